#include "loop/turn.hpp"

#include <redlock/detail/deliver.hpp>

#include "loop/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace turn_tests {

namespace asio = boost::asio;
using namespace redlock::detail;

namespace {

struct task_of_test final : deferred
{
    explicit task_of_test(std::function<void()> what) : work(std::move(what)) {}

    void on_turn_end() override { work(); }

    std::function<void()> work;
};

struct turn_fixture
{
    asio::io_context context;
    strand_type strand{context.get_executor()};
    std::shared_ptr<turn> end_of_turn = std::make_shared<turn>(context.get_executor(), strand);
    std::string order;
    task_of_test a{[this] { order += "a"; }};
    task_of_test b{[this] { order += "b"; }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_turn, turn_fixture)

BOOST_AUTO_TEST_CASE(work_is_done_once_and_in_order)
{
    end_of_turn->begin_with([this] { order += "<"; });
    end_of_turn->defer(a);
    end_of_turn->defer(b);
    end_of_turn->defer(a);
    BOOST_TEST(order.empty());

    context.run();

    BOOST_TEST(order == "<ab");
}

BOOST_AUTO_TEST_CASE(what_is_urgent_goes_first_though_it_was_put_off_before)
{
    end_of_turn->defer(a);
    end_of_turn->defer(b);
    end_of_turn->defer_first(b);

    context.run();

    BOOST_TEST(order == "ba");
}

BOOST_AUTO_TEST_CASE(what_can_wait_is_done_after_all_else_though_it_was_put_off_before)
{
    task_of_test last([this] { order += "last"; });
    task_of_test chain([this] {
        order += "c";
        end_of_turn->defer(a);
    });
    end_of_turn->defer_last(last);
    end_of_turn->defer(b);
    end_of_turn->defer(chain);

    context.run();

    BOOST_TEST(order == "bcalast");
}

BOOST_AUTO_TEST_CASE(an_end_does_a_limited_number_of_tasks_and_other_handlers_come_between)
{
    std::size_t done = 0;
    std::deque<task_of_test> many;
    for (std::size_t i = 0; i < 3 * turn::max_tasks; ++i)
        end_of_turn->defer(many.emplace_back([&] { ++done; }));
    std::size_t done_before = 0;
    asio::post(context, [&] { done_before = done; });

    context.run();

    BOOST_TEST(done_before == turn::max_tasks);
    BOOST_TEST(done == 3 * turn::max_tasks);
}

BOOST_AUTO_TEST_CASE(an_end_that_has_done_enough_writes_what_there_is)
{
    std::size_t done = 0;
    std::size_t done_before = 0;
    std::deque<task_of_test> many;
    task_of_test write([&] { done_before = done; });
    end_of_turn->defer_write(write);
    for (std::size_t i = 0; i < 2 * turn::max_tasks; ++i)
        end_of_turn->defer(many.emplace_back([&] { ++done; }));

    context.run();

    BOOST_TEST(done_before == turn::max_tasks);
}

BOOST_AUTO_TEST_CASE(commands_are_written_when_no_other_task_is_left)
{
    task_of_test write([this] { order += "w"; });
    task_of_test chain([this] {
        order += "c";
        end_of_turn->defer(a);
    });
    end_of_turn->defer_write(write);
    end_of_turn->defer(chain);

    context.run();

    BOOST_TEST(order == "caw");
}

BOOST_AUTO_TEST_CASE(what_is_put_off_to_the_next_end_lets_other_handlers_run)
{
    task_of_test next([this] { order += "n"; });
    task_of_test now([&] {
        order += "t";
        end_of_turn->defer_to_next(next);
        asio::post(context, [this] { order += "h"; });
    });
    end_of_turn->defer(now);
    asio::post(context, [this] { order += "l"; });

    context.run();

    BOOST_TEST(order.starts_with("tl"));
    BOOST_TEST(order.find('n') != order.npos);
}

BOOST_AUTO_TEST_CASE(another_end_comes_right_behind_a_handler_that_work_has_posted)
{
    task_of_test posting([this] {
        end_of_turn->end_again();
        asio::post(context, [this] {
            asio::post(context, [this] { order += "later"; });
            end_of_turn->defer(a);
        });
    });
    end_of_turn->defer(posting);

    context.run();

    BOOST_TEST(order == "alater");
}

BOOST_AUTO_TEST_CASE(a_turn_that_posted_no_handler_is_the_last_one)
{
    end_of_turn->defer(a);

    BOOST_TEST(context.run() == 1U);
}

BOOST_AUTO_TEST_CASE(work_that_is_destroyed_is_not_done)
{
    {
        task_of_test gone([this] { order += "gone"; });
        end_of_turn->defer(gone);
    }
    end_of_turn->defer(a);

    context.run();

    BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct work_fixture : turn_fixture
{
    /// Lets the loop bring what a connection has read.
    void on_input(std::function<void()> what)
    {
        asio::post(strand, [this, what = std::move(what)] { end_of_turn->work(what); });
    }

    /// Work that ends an operation, which has this handler.
    task_of_test completing(std::function<void()> handler)
    {
        return task_of_test([this, handler = std::move(handler)] {
            end_of_turn->end_again();
            post(
                context.get_executor(),
                std::make_unique<posted_function<std::function<void()>>>(handler)
            );
        });
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_turn_of_replies, work_fixture)

BOOST_AUTO_TEST_CASE(what_replies_put_off_is_done_before_the_loop_goes_on)
{
    on_input([this] {
        end_of_turn->defer(a);
        end_of_turn->defer(b);
        order += "replies";
    });
    asio::post(context, [this] { order += "loop"; });

    context.run();

    BOOST_TEST(order == "repliesabloop");
}

BOOST_AUTO_TEST_CASE(replies_that_put_off_nothing_cost_the_loop_nothing)
{
    on_input([this] { order += "replies"; });

    BOOST_TEST(context.run() == 1U);
}

BOOST_AUTO_TEST_CASE(a_handler_is_called_outside_of_the_strand)
{
    task_of_test first =
        completing([this] { order += strand.running_in_this_thread() ? "within" : "outside"; });
    on_input([&] { end_of_turn->defer(first); });

    context.run();

    BOOST_TEST(order == "outside");
}

BOOST_AUTO_TEST_CASE(the_handlers_of_one_turn_share_the_next_end)
{
    const auto handler = [this] {
        order += "handler";
        end_of_turn->defer(a);
    };
    task_of_test first = completing(handler);
    task_of_test second = completing(handler);
    on_input([&] {
        end_of_turn->defer(first);
        end_of_turn->defer(second);
    });

    context.run();

    BOOST_TEST(order == "handlerhandlera");
}

BOOST_AUTO_TEST_CASE(replies_take_along_what_user_code_put_off)
{
    asio::post(context, [this] { end_of_turn->defer(b); });
    on_input([this] { end_of_turn->defer(a); });
    asio::post(context, [this] { order += "loop"; });

    context.run();

    BOOST_TEST(order == "baloop");
}

BOOST_AUTO_TEST_CASE(an_end_without_work_does_not_begin)
{
    task_of_test first = completing([this] { order += "handler"; });
    end_of_turn->begin_with([this] { order += "<"; });
    on_input([&] { end_of_turn->defer(first); });

    context.run();

    BOOST_TEST(order == "<handler");
}

BOOST_AUTO_TEST_CASE(what_a_handler_puts_off_is_done_while_it_polls_the_loop)
{
    task_of_test first = completing([this] {
        end_of_turn->defer(a);
        context.poll();
        order += "handler";
    });
    on_input([&] { end_of_turn->defer(first); });

    context.run();

    BOOST_TEST(order == "ahandler");
}

BOOST_AUTO_TEST_CASE(replies_that_come_while_work_polls_the_loop_belong_to_its_turn)
{
    task_of_test polling([this] {
        order += "(";
        context.poll();
        order += ")";
    });
    on_input([&] { end_of_turn->defer(polling); });
    asio::post(context, [this] {
        end_of_turn->work([this] {
            end_of_turn->defer(a);
            order += "replies";
        });
    });

    context.run();

    BOOST_TEST(order == "(replies)a");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace turn_tests
