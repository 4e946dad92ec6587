#include "loop/deadlines.hpp"

#include "loop/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "testing/manual_time.hpp"

namespace deadlines_tests {

namespace asio = boost::asio;
using namespace redlock;
using namespace redlock::detail;
using namespace std::chrono_literals;

namespace {

struct deadline_of_test final : deadline
{
    explicit deadline_of_test(std::function<void()> what) : work(std::move(what)) {}

    void on_deadline() override { work(); }
    [[nodiscard]] bool awaits_input() const noexcept override { return awaits; }

    std::function<void()> work;
    bool awaits = false;
};

struct deadlines_fixture
{
    asio::io_context context;
    strand_type strand{context.get_executor()};
    std::shared_ptr<redlock::testing::manual_time> time =
        std::make_shared<redlock::testing::manual_time>(strand);
    std::shared_ptr<deadlines> all = std::make_shared<deadlines>(time);
    std::string order;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_deadlines, deadlines_fixture)

BOOST_AUTO_TEST_CASE(what_is_due_is_called_in_order)
{
    deadline_of_test a([this] { order += "a"; });
    deadline_of_test b([this] { order += "b"; });
    deadline_of_test c([this] { order += "c"; });
    const time_point now = time->now().steady;
    all->add(c, now + 3s);
    all->add(b, now + 2s);
    all->add(a, now + 1s);

    time->advance(2s);
    context.run();

    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(after_a_standstill_what_waits_for_input_gets_time_to_read_it_once)
{
    deadline_of_test answer([this] { order += "a"; });
    answer.awaits = true;
    deadline_of_test other([this] { order += "o"; });
    const time_point now = time->now().steady;
    all->add(answer, now + 50ms);
    all->add(other, now + 50ms);

    time->advance(90ms);  // At once, as a process that was stopped.
    context.run();
    BOOST_TEST(order == "o");
    time->advance(39ms);
    context.restart();
    context.run();
    BOOST_TEST(order == "o");
    time->advance(60ms);
    context.restart();
    context.run();
    BOOST_TEST(order == "oa");

    // On time, it's called at once.
    order.clear();
    all->add(answer, time->now().steady + 50ms);
    time->advance(52ms);
    context.restart();
    context.run();
    BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(what_a_deadline_adds_waits_for_another_handler_even_if_it_is_due)
{
    int left = 3;
    deadline_of_test again([this, &again, &left] {
        order += "a";
        if (--left > 0)
            all->add(again, time->now().steady);
    });
    all->add(again, time->now().steady);

    while (context.run_one() > 0)
        order += "|";

    order.erase(0, order.find('a'));
    BOOST_TEST(order == "a|a|a|");
}

BOOST_AUTO_TEST_CASE(a_deadline_may_take_out_or_destroy_another_one_that_is_due)
{
    deadline_of_test c([this] { order += "c"; });
    auto b = std::make_unique<deadline_of_test>([this] { order += "b"; });
    deadline_of_test a([this, &b, &c] {
        order += "a";
        b.reset();
        c.forget();
    });
    const time_point now = time->now().steady;
    all->add(a, now + 1s);
    all->add(*b, now + 1s);
    all->add(c, now + 1s);

    time->advance(1s);
    context.run();

    BOOST_TEST(order == "a");
    BOOST_TEST(!c.is_linked());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace deadlines_tests
