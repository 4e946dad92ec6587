// Alarms; and the clocks of the machine, with a machine that was suspended, or whose date was set.

#include "loop/clock.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/printing.hpp"

using namespace redlock;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// For how long this machine is said to have been suspended.
std::atomic<std::int64_t> suspended = 0;

/// By how much the date of this machine is said to have been set forward.
std::atomic<std::int64_t> set_forward = 0;

void add(std::int64_t shift, timespec& to)
{
    const std::int64_t shifted = to.tv_nsec + shift;
    to.tv_sec += shifted / second;
    to.tv_nsec = shifted % second;
}

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

/// Takes the place of the C library's function in this program: a test cannot suspend its machine.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    const auto outcome = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    if (outcome == 0 && clock == CLOCK_BOOTTIME)
        add(suspended, *now);
    if (outcome == 0 && clock == CLOCK_REALTIME)
        add(set_forward, *now);
    return outcome;
}

BOOST_FIXTURE_TEST_SUITE(test_clock, clock_fixture)

BOOST_AUTO_TEST_CASE(an_alarm_calls_once_when_its_time_has_come)
{
    const auto begun = time->now().steady;
    subject->set(in(5ms), [this] { ++calls; });
    poll();
    context->restart();
    context->run();

    BOOST_TEST(calls == 1);
    BOOST_TEST((time->now().steady - begun >= 5ms));
}

BOOST_AUTO_TEST_CASE(an_alarm_that_is_set_anew_forgets_what_it_was_set_to)
{
    subject->set(in(0ms), [this] { calls += 10; });
    subject->set(in(0ms), [this] { ++calls; });
    context->run();

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_cancelled_alarm_does_not_call_though_its_time_had_come)
{
    subject->set(in(0ms), [this] { ++calls; });
    subject->cancel();
    context->run();

    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(a_destroyed_alarm_does_not_call)
{
    subject->set(in(1h), [this] { ++calls; });
    subject.reset();
    context->run();

    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(a_hurried_alarm_calls_soon_and_never_in_place)
{
    subject->set(in(1h), [this] { ++calls; });
    subject->hurry();
    BOOST_TEST(calls == 0);
    context->run();

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(an_alarm_that_is_not_set_cannot_be_hurried)
{
    subject->hurry();
    poll();

    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(an_alarm_may_be_set_by_what_it_calls)
{
    subject->set(in(0ms), [this] {
        ++calls;
        subject->set(in(0ms), [this] { ++calls; });
    });
    context->run();

    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(what_an_alarm_calls_may_be_all_that_owns_the_alarm)
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

BOOST_AUTO_TEST_CASE(one_of_the_two_clocks_goes_on_while_the_machine_is_suspended)
{
    const core::instant before = time->now();

    suspended = nanoseconds(1h).count();
    const core::instant after = time->now();
    suspended = 0;

    BOOST_TEST(after.boot - before.boot >= 1h);
    BOOST_TEST((after.steady - before.steady < 30min));
}

BOOST_AUTO_TEST_CASE(neither_clock_moves_when_somebody_sets_the_date)
{
    const core::instant before = time->now();
    const auto date_before = time->wall();

    set_forward = nanoseconds(1h).count();
    const core::instant after = time->now();
    const auto date_after = time->wall();
    set_forward = 0;

    BOOST_TEST_REQUIRE((date_after - date_before >= 1h));
    BOOST_TEST((after.steady - before.steady < 30min));
    BOOST_TEST((after.boot - before.boot < 30min));
}

BOOST_AUTO_TEST_SUITE_END()
