#include "node/run_queue_timer.hpp"

#include <redlock/detail/deliver.hpp>

#include "support/contains.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace redlock::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::run_queue;
using std::chrono::steady_clock;

using queue_timer = asio::basic_waitable_timer<
    steady_clock,
    asio::wait_traits<steady_clock>,
    run_queue::executor_type>;

struct run_queue_fixture
{
    std::optional<asio::io_context> context{1};
    run_queue& queue = *run_queue::of(context->get_executor());
    run_queue::executor_type executor = queue.get_executor();
    std::string order;

    /// Adds to the order, with what follows: 'x' if aborted, '.' if not.
    auto note(const std::string& what)
    {
        return [this, what](boost::system::error_code ec) {
            order += what + (ec == asio::error::operation_aborted ? "x" : ".");
        };
    }

    auto add(const std::string& what)
    {
        return [this, what] { order += what; };
    }

    /// As the loop brings a reply.
    template <class Function>
    void reply(Function function)
    {
        asio::post(*context, [this, function = std::move(function)] {
            asio::dispatch(executor.for_replies(), function);
        });
    }

    /// As an operation does it with its handler.
    template <class Function>
    void complete(Function handler)
    {
        complete(std::move(handler), context->get_executor());
    }

    template <class Function>
    void complete(Function handler, const asio::any_io_executor& where)
    {
        detail::post(
            where, std::make_unique<detail::posted_function<Function>>(std::move(handler))
        );
    }
};

BOOST_FIXTURE_TEST_SUITE(test_run_queue, run_queue_fixture)

BOOST_AUTO_TEST_CASE(what_is_posted_from_within_comes_before_what_waits_for_the_loop)
{
    asio::post(*context, [this] {
        asio::dispatch(executor, [this] {
            asio::post(*context, add("loop"));
            asio::post(executor, add("b"));
            asio::post(executor, add("c"));
            order += "a";
        });
        order += "d";
    });

    context->run();

    BOOST_TEST(order == "abcdloop");
}

BOOST_AUTO_TEST_CASE(what_is_dispatched_from_within_runs_in_place)
{
    asio::dispatch(executor, [this] {
        asio::post(executor, add("b"));
        asio::dispatch(executor, add("a"));
    });

    context->run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(what_is_posted_while_nothing_runs_here_waits_for_the_loop)
{
    asio::post(*context, [this] {
        asio::post(executor, add("b"));
        order += "a";
    });

    context->run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(what_another_thread_gives_runs_on_the_loop)
{
    std::thread([this] {
        asio::dispatch(executor, add("a"));
        asio::post(executor, add("b"));
    }).join();
    BOOST_TEST(order.empty());

    context->run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(what_is_queued_goes_on_after_something_that_failed)
{
    asio::dispatch(executor, [this] {
        asio::post(executor, [] { throw std::runtime_error("of the test"); });
        asio::post(executor, add("a"));
    });

    BOOST_CHECK_THROW(context->run(), std::runtime_error);
    BOOST_TEST(order.empty());
    context->run();

    BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(functions_that_post_each_other_forever_leave_the_loop_its_turn)
{
    bool more = true;
    std::function<void()> again = [&] {
        if (more)
            asio::post(executor, again);
    };
    asio::steady_timer end(*context, 1ms);
    end.async_wait([&](auto) { more = false; });
    asio::dispatch(executor, again);

    context->run();

    BOOST_TEST(!more);
}

BOOST_AUTO_TEST_CASE(one_function_can_be_called_ahead_of_time)
{
    asio::dispatch(executor, [this] {
        asio::post(executor, add("a"));
        asio::post(executor, add("b"));
        queue.go_on();
        order += "-";
    });

    context->run();

    BOOST_TEST(order == "a-b");
}

BOOST_AUTO_TEST_CASE(handlers_follow_the_reply_and_what_is_queued_but_not_the_loop)
{
    asio::post(*context, [this] {
        asio::dispatch(executor.for_replies(), [this] {
            asio::post(*context, add("loop"));
            complete(add("b"));
            complete(add("c"));
            asio::post(executor, add("a"));
            order += "-";
        });
        order += "d";
    });

    context->run();

    BOOST_TEST(order == "-abcdloop");
}

BOOST_AUTO_TEST_CASE(handlers_wait_for_the_loop_if_no_reply_is_worked_off)
{
    asio::post(*context, [this] {
        asio::dispatch(executor, [this] { complete(add("a")); });
        complete(add("b"));
        order += "-";
    });

    context->run();

    BOOST_TEST(order == "-ab");
}

BOOST_AUTO_TEST_CASE(a_handler_that_follows_a_reply_is_outside_of_the_queue)
{
    reply([this] {
        complete([this] {
            BOOST_TEST(!queue.running());
            asio::post(executor, add("b"));
            complete(add("c"));
            order += "a";
        });
    });

    context->run();

    BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(handlers_of_another_loop_do_not_follow_the_reply)
{
    asio::io_context other;
    reply([&] {
        complete(add("a"), other.get_executor());
        complete(add("b"), asio::make_strand(*context));
        complete(add("c"));
    });

    context->run();
    BOOST_TEST(order == "cb");
    other.run();

    BOOST_TEST(order == "cba");
}

BOOST_AUTO_TEST_CASE(handlers_that_are_never_to_be_called_in_place_follow_the_reply_too)
{
    reply([this] {
        const auto executor_of_loop = context->get_executor();
        complete(add("b"), asio::require(executor_of_loop, asio::execution::blocking.never));
        order += "a";
    });
    asio::post(*context, add("c"));

    context->run();

    BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(a_reply_within_a_reply_is_part_of_it)
{
    reply([this] {
        complete(add("c"));
        asio::dispatch(executor.for_replies(), [this] {
            complete(add("d"));
            order += "a";
        });
        order += "b";
    });

    context->run();

    BOOST_TEST(order == "abcd");
}

BOOST_AUTO_TEST_CASE(handlers_are_called_even_if_one_or_the_queue_fails)
{
    reply([this] {
        asio::post(executor, [] { throw std::runtime_error("in the queue"); });
        complete([] { throw std::runtime_error("in a handler"); });
        complete(add("a"));
    });
    BOOST_CHECK_THROW(context->run(), std::runtime_error);
    BOOST_TEST(order.empty());
    BOOST_CHECK_THROW(context->run(), std::runtime_error);
    BOOST_TEST(order.empty());

    context->run();

    BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(a_handler_that_stops_the_loop_is_the_last_until_it_runs_again)
{
    reply([this] {
        complete([this] {
            context->stop();
            order += "a";
        });
        complete(add("b"));
    });
    context->run();
    BOOST_TEST(order == "a");

    context->restart();
    context->run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(a_handler_that_polls_the_loop_lets_the_others_be_called)
{
    reply([this] {
        complete([this] {
            context->poll();
            order += "a";
        });
        complete(add("b"));
    });

    context->run();

    BOOST_TEST(order == "ba");
}

BOOST_AUTO_TEST_CASE(what_follows_a_reply_within_a_handler_comes_behind_the_others)
{
    reply([this] {
        complete([this] {
            reply([this] { complete(add("c")); });
            context->poll();
            order += "a";
        });
        complete(add("b"));
    });

    context->run();

    BOOST_TEST(order == "bca");
}

BOOST_AUTO_TEST_CASE(the_executor_can_be_erased)
{
    const asio::any_io_executor erased = executor;
    BOOST_TEST(&asio::query(erased, asio::execution::context) == &*context);
    asio::dispatch(erased, [&] {
        asio::post(erased, add("b"));
        asio::dispatch(erased, add("a"));
    });

    context->run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(only_a_context_with_one_thread_has_a_queue)
{
    asio::io_context several;
    BOOST_TEST(!run_queue::of(detail::make_strand(several.get_executor())));
    BOOST_TEST(!run_queue::of(asio::make_strand(*context)));
    BOOST_TEST(run_queue::of(detail::make_strand(context->get_executor())) == &queue);
}

BOOST_AUTO_TEST_CASE(what_is_queued_or_waits_is_destroyed_with_the_context)
{
    auto kept = std::make_shared<queue_timer>(executor);
    kept->expires_at(steady_clock::time_point::max());
    const std::weak_ptr<queue_timer> timer = kept;
    // A wait that owns its timer, as a connection's do, and a function that does.
    kept->async_wait([kept, this](auto) { order += "never"; });
    asio::post(*context, [this, kept]() { asio::post(executor, [kept] {}); });
    reply([this, kept = std::move(kept)]() {
        complete([this] { context->stop(); });
        complete([kept, this] { order += "never"; });
    });
    context->run();

    context.reset();

    BOOST_TEST(timer.expired());
    BOOST_TEST(order.empty());
}

BOOST_AUTO_TEST_CASE(a_wait_without_an_end_ends_by_cancellation_and_never_in_place)
{
    queue_timer timer(executor);
    timer.expires_at(steady_clock::time_point::max());
    timer.async_wait(note("a"));
    timer.async_wait(note("b"));
    asio::post(*context, [&] {
        BOOST_TEST(timer.cancel() == 2U);
        BOOST_TEST(timer.cancel() == 0U);
        order += "-";
    });

    context->run();

    BOOST_TEST(order == "-axbx");
}

BOOST_AUTO_TEST_CASE(a_new_expiry_cancels)
{
    queue_timer timer(executor);
    timer.expires_at(steady_clock::time_point::max());
    timer.async_wait(note("a"));
    BOOST_TEST(timer.expires_after(1ms) == 1U);
    timer.async_wait(note("b"));
    BOOST_TEST(timer.expires_at(steady_clock::time_point::max()) == 1U);
    timer.async_wait(note("c"));
    BOOST_TEST(timer.expires_after(1ms) == 1U);
    timer.async_wait(note("d"));

    context->run();

    // The first three come by different ways.
    BOOST_TEST(order.size() == 8U);
    BOOST_TEST(order.ends_with("d."));
    for (const char* each : {"ax", "bx", "cx"})
        BOOST_TEST(contains(order, each), each);
}

BOOST_AUTO_TEST_CASE(a_slot_cancels_a_wait_without_an_end)
{
    queue_timer timer(executor);
    timer.expires_at(steady_clock::time_point::max());
    asio::cancellation_signal signal;
    timer.async_wait(asio::bind_cancellation_slot(signal.slot(), note("a")));
    asio::post(*context, [&] { signal.emit(asio::cancellation_type::terminal); });

    context->run();

    BOOST_TEST(order == "ax");
}

BOOST_AUTO_TEST_CASE(a_timer_that_is_destroyed_ends_its_waits)
{
    {
        queue_timer timer(executor);
        timer.expires_at(steady_clock::time_point::max());
        timer.async_wait(note("a"));
    }

    context->run();

    BOOST_TEST(order == "ax");
}

BOOST_AUTO_TEST_CASE(a_wait_calls_its_handler_on_the_executor_of_the_handler)
{
    asio::io_context other;
    queue_timer timer(executor);
    timer.expires_at(steady_clock::time_point::max());
    timer.async_wait(asio::bind_executor(other, note("a")));
    timer.cancel();

    context->run();
    BOOST_TEST(order.empty());
    other.run();

    BOOST_TEST(order == "ax");
}

BOOST_AUTO_TEST_CASE(an_operation_with_a_time_limit_is_cancelled_when_it_comes)
{
    asio::steady_timer operation(*context, steady_clock::time_point::max());
    queue_timer timer(executor);
    operation.async_wait(asio::cancel_at(timer, steady_clock::now() + 1ms, note("a")));

    context->run();

    BOOST_TEST(order == "ax");
}

BOOST_AUTO_TEST_CASE(an_operation_without_a_time_limit_completes_as_if_it_were_alone)
{
    asio::steady_timer operation(*context, 1ms);
    queue_timer timer(executor);
    operation.async_wait(
        asio::cancel_at(timer, steady_clock::time_point::max(), note("a"))
    );

    context->run();

    BOOST_TEST(order == "a.");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace redlock::test
