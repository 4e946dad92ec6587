// Alarms.

#include "loop/clock.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <utility>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_clock)

using namespace redlock;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

struct clock_fixture
{
    /// Runs what is due, and what others wait for is not.
    void poll()
    {
        context->restart();
        context->poll();
    }

    [[nodiscard]] time_point in(nanoseconds by) const { return time->now().steady + by; }

    std::unique_ptr<boost::asio::io_context> context = std::make_unique<boost::asio::io_context>();
    std::shared_ptr<detail::clock> time =
        detail::make_system_clock(detail::strand_type(context->get_executor()));
    std::unique_ptr<detail::alarm> subject = time->make_alarm();
    int calls = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_alarm_calls_once_when_its_time_has_come, clock_fixture)
{
    const auto begun = time->now().steady;
    subject->set(in(5ms), [this] { ++calls; });
    poll();
    context->restart();
    context->run();

    BOOST_TEST(calls == 1);
    BOOST_TEST((time->now().steady - begun >= 5ms));
}

BOOST_FIXTURE_TEST_CASE(an_alarm_that_is_set_anew_forgets_what_it_was_set_to, clock_fixture)
{
    subject->set(in(0ms), [this] { calls += 10; });
    subject->set(in(0ms), [this] { ++calls; });
    context->run();

    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_alarm_does_not_call_though_its_time_had_come, clock_fixture)
{
    subject->set(in(0ms), [this] { ++calls; });
    subject->cancel();
    context->run();

    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(a_destroyed_alarm_does_not_call, clock_fixture)
{
    subject->set(in(1h), [this] { ++calls; });
    subject.reset();
    context->run();

    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(a_hurried_alarm_calls_soon_and_never_in_place, clock_fixture)
{
    subject->set(in(1h), [this] { ++calls; });
    subject->hurry();
    BOOST_TEST(calls == 0);
    context->run();

    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(an_alarm_that_is_not_set_cannot_be_hurried, clock_fixture)
{
    subject->hurry();
    poll();

    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(an_alarm_may_be_set_by_what_it_calls, clock_fixture)
{
    subject->set(in(0ms), [this] {
        ++calls;
        subject->set(in(0ms), [this] { ++calls; });
    });
    context->run();

    BOOST_TEST(calls == 2);
}

BOOST_FIXTURE_TEST_CASE(what_an_alarm_calls_may_be_all_that_owns_the_alarm, clock_fixture)
{
    struct owner
    {
        std::unique_ptr<detail::alarm> own;
    };
    auto made = std::make_shared<owner>();
    const std::weak_ptr<owner> left = made;
    made->own = time->make_alarm();
    detail::alarm& own = *made->own;
    own.set(in(1h), [kept = std::move(made)] {});
    own.cancel();
    context->run();

    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_SUITE_END()
