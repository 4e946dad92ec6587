#include "core/extension_schedule.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_extension_schedule)

using namespace redlock;
using namespace std::chrono_literals;
using core::extension_schedule;

namespace {

constexpr std::chrono::nanoseconds start = 1h;
constexpr auto any_draw = std::numeric_limits<std::uint64_t>::max();

}  // namespace

BOOST_AUTO_TEST_CASE(an_extension_is_due_after_a_third_of_the_ttl)
{
    extension_schedule schedule;
    schedule.granted(start, 30s, 0);

    BOOST_TEST(schedule.due() == start + 10s);
}

BOOST_AUTO_TEST_CASE(jitter_makes_an_extension_earlier_and_never_later)
{
    for (std::uint64_t draw = 0; draw < 1'000'000'000'000; draw = 3 * draw + 1)
    {
        extension_schedule schedule;
        schedule.granted(start, 30s, draw);

        BOOST_TEST(schedule.due() >= start + 9s);
        BOOST_TEST(schedule.due() <= start + 10s);
    }
}

BOOST_AUTO_TEST_CASE(a_failed_extension_is_repeated_within_the_remaining_validity)
{
    for (const std::uint64_t draw : {std::uint64_t(0), std::uint64_t(12345), any_draw})
    {
        extension_schedule schedule;
        schedule.failed(start, 8s, draw);

        BOOST_TEST(schedule.due() > start);
        BOOST_TEST(schedule.due() <= start + 1s);
    }
}

BOOST_AUTO_TEST_CASE(there_are_many_tries_before_the_end_and_not_too_many)
{
    constexpr auto end = start + 20s;
    extension_schedule schedule;
    int tries = 0;
    auto now = start;
    while (now < end)
    {
        schedule.failed(now, end - now, 0);
        BOOST_TEST_REQUIRE(schedule.due() > now);
        now = schedule.due();
        ++tries;
    }

    BOOST_TEST(tries >= 20);
    BOOST_TEST(tries <= 60);
}

BOOST_AUTO_TEST_CASE(a_failure_after_the_end_still_moves_on)
{
    extension_schedule schedule;
    schedule.failed(start, -5s, any_draw);

    BOOST_TEST(schedule.due() > start);
}

BOOST_AUTO_TEST_CASE(a_success_goes_back_to_a_third)
{
    extension_schedule schedule;
    schedule.failed(start, 100ms, 0);
    schedule.granted(start + 15s, 30s, 0);

    BOOST_TEST(schedule.due() == start + 25s);
}

BOOST_AUTO_TEST_CASE(the_longest_ttl_does_not_overflow)
{
    extension_schedule schedule;
    schedule.granted(std::chrono::nanoseconds::max() - 1ns, forever, any_draw);

    BOOST_TEST(schedule.due() > start);
}

BOOST_AUTO_TEST_SUITE_END()
