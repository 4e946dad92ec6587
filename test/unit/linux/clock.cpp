// The clocks of a machine that was suspended, or whose date was set.

#include "loop/clock.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_clock)

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

struct machine_clocks
{
    boost::asio::io_context context;
    std::shared_ptr<detail::clock> time =
        detail::make_system_clock(detail::strand_type(context.get_executor()));
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

BOOST_FIXTURE_TEST_CASE(
    one_of_the_two_clocks_goes_on_while_the_machine_is_suspended,
    machine_clocks
)
{
    const core::instant before = time->now();

    suspended = nanoseconds(1h).count();
    const core::instant after = time->now();
    suspended = 0;

    BOOST_TEST(after.boot - before.boot >= 1h);
    BOOST_TEST((after.steady - before.steady < 30min));
}

BOOST_FIXTURE_TEST_CASE(neither_clock_moves_when_somebody_sets_the_date, machine_clocks)
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
