#include "core/backoff.hpp"

#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "support/printing.hpp"

namespace backoff_tests {

using namespace std::chrono_literals;
using redlock::milliseconds;
using redlock::core::backoff;
using redlock::core::nanoseconds;
using redlock::core::queue_polls;
using redlock::core::until_free;

namespace {

constexpr nanoseconds longest = nanoseconds::max();
constexpr std::uint64_t largest_draw = std::numeric_limits<std::uint64_t>::max();

/// Draws at both ends of the range and around each power of two.
std::vector<std::uint64_t> many_draws()
{
    std::vector<std::uint64_t> draws{0, largest_draw};
    for (std::uint64_t power = 1; power != 0; power <<= 1)
        for (const std::uint64_t draw : {power - 1, power, power + 1})
            draws.push_back(draw);
    return draws;
}

/// The upper bounds of the first delays. The draw that gives the bound is one below it.
std::vector<nanoseconds::rep> bounds(nanoseconds first, nanoseconds cap, int count)
{
    std::vector<nanoseconds::rep> found;
    for (int index = 0; index < count; ++index)
    {
        nanoseconds::rep most = 0;
        for (std::uint64_t draw = 0; draw < 200; ++draw)
        {
            backoff delays(first, cap);
            for (int skipped = 0; skipped < index; ++skipped)
                (void)delays.next(draw);
            most = std::max(most, delays.next(draw).count());
        }
        found.push_back(most);
    }
    return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_backoff)

BOOST_AUTO_TEST_CASE(bounds_double_up_to_the_cap)
{
    const std::vector<nanoseconds::rep> expected{3, 6, 12, 24, 48, 96, 100, 100};

    BOOST_TEST(bounds(3ns, 100ns, 8) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_cap_wins_over_the_first_bound)
{
    const std::vector<nanoseconds::rep> expected{7, 7, 7};

    BOOST_TEST(bounds(100ns, 7ns, 3) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(equal_draws_reach_every_delay_of_the_range_once)
{
    std::set<nanoseconds::rep> found;
    for (std::uint64_t draw = 0; draw < 50; ++draw)
        found.insert(backoff(50ns, 1s).next(draw).count());

    BOOST_TEST(found.size() == 50u);
    BOOST_TEST(*found.begin() == 1);
    BOOST_TEST(*found.rbegin() == 50);
}

BOOST_AUTO_TEST_CASE(a_delay_is_never_zero_and_never_above_the_cap)
{
    for (const nanoseconds first : {1ns, 2ns, nanoseconds(1ms), nanoseconds(1min), longest})
        for (const nanoseconds cap : {1ns, 3ns, nanoseconds(200ms), nanoseconds(1min), longest})
            for (const std::uint64_t draw : many_draws())
            {
                backoff delays(first, cap);
                // 70 doublings are more than 64 bits have.
                for (int round = 0; round < 70; ++round)
                {
                    const nanoseconds delay = delays.next(draw);
                    BOOST_REQUIRE(delay >= 1ns);
                    BOOST_REQUIRE(delay <= cap);
                }
            }
}

BOOST_AUTO_TEST_CASE(the_longest_delay_is_reached_without_overflow)
{
    const auto draw = static_cast<std::uint64_t>(longest.count()) - 1;
    backoff delays(1ns, longest);
    for (int round = 0; round < 63; ++round)
        (void)delays.next(draw);

    BOOST_TEST(delays.next(draw) == longest);
    BOOST_TEST(delays.next(draw) == longest);
    BOOST_TEST(delays.next(draw + 1) == 1ns);
}

BOOST_AUTO_TEST_CASE(reset_starts_again_with_the_first_bound)
{
    backoff delays(10ns, 1s);
    for (int round = 0; round < 5; ++round)
        (void)delays.next(0);

    delays.reset();

    BOOST_TEST(delays.next(10) == 1ns);
    BOOST_TEST(delays.next(20) == 1ns);
}

BOOST_AUTO_TEST_CASE(a_delay_ends_soon_after_the_last_key)
{
    struct
    {
        nanoseconds delay;
        milliseconds free_after;
        nanoseconds expected;
    } const cases[] = {
        {800ms, 0ms, 102ms},
        {800ms, 100ms, 202ms},
        {800ms, 698ms, 800ms},
        {800ms, 10s, 800ms},
        {1ms, 0ms, 1ms},
        {800ms, redlock::forever, 800ms},
    };

    for (const auto& each : cases)
        BOOST_TEST(until_free(each.delay, each.free_after) == each.expected);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

constexpr nanoseconds reservation = 50ms;
constexpr auto nothing_known = std::nullopt;

}  // namespace

BOOST_AUTO_TEST_SUITE(test_queue_polls)

BOOST_AUTO_TEST_CASE(a_waiter_polls_the_later_the_more_are_before_it)
{
    const std::pair<std::size_t, milliseconds> delays[] = {
        {1, 0ms}, {2, 2ms}, {3, 4ms}, {65, 128ms}, {66, 132ms}, {100, 268ms}
    };
    for (const auto& [position, behind] : delays)
    {
        queue_polls polls(reservation, 10s);
        const nanoseconds delay = polls.next(position, nothing_known, 0);
        BOOST_TEST(delay == reservation + behind, "position " << position);
    }
}

BOOST_AUTO_TEST_CASE(polls_become_rare_until_the_waiter_is_woken)
{
    queue_polls polls(reservation, 1s);
    for (const nanoseconds expected : {50ms, 100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms})
        BOOST_TEST(polls.next(1, nothing_known, 0) == expected);

    polls.start_again();

    BOOST_TEST(polls.next(1, nothing_known, 0) == reservation);
}

BOOST_AUTO_TEST_CASE(polls_differ_by_less_than_an_eighth)
{
    for (const std::uint64_t draw : many_draws())
    {
        const nanoseconds delay = queue_polls(800ms, 10s).next(1, nothing_known, draw);
        BOOST_TEST(delay >= 800ms);
        BOOST_TEST(delay < 900ms);
    }
    BOOST_TEST(queue_polls(800ms, 10s).next(1, nothing_known, largest_draw) > 890ms);
}

// They came at the same moment, and have no place that keeps them apart.
BOOST_AUTO_TEST_CASE(those_behind_a_full_queue_do_not_all_ask_at_once)
{
    constexpr std::size_t behind = redlock::core::max_queue + 1;
    constexpr nanoseconds delay = (redlock::core::max_queue - 64) * nanoseconds(2ms);
    const auto first = [](std::uint64_t draw) {
        return queue_polls(reservation, 10s).next(behind, nothing_known, draw);
    };
    BOOST_TEST(first(0) == reservation + delay / 2);
    BOOST_TEST(first(largest_draw) > delay * 3 / 2);
    BOOST_TEST(first(largest_draw) < delay * 2);
}

BOOST_AUTO_TEST_CASE(the_first_asks_when_the_keys_are_gone_and_the_others_leave_it_time)
{
    struct
    {
        std::size_t position;
        milliseconds free_after;
        nanoseconds expected;
    } const cases[] = {
        {1, 0ms, 2ms},
        {1, 30ms, 32ms},
        {1, 10s, 50ms},
        {2, 0ms, 52ms},
        {3, 0ms, 54ms},
        {2, 30ms, 52ms},
    };

    for (const auto& each : cases)
    {
        queue_polls polls(reservation, 10s);
        BOOST_TEST(polls.next(each.position, each.free_after, 0) == each.expected);
    }
}

BOOST_AUTO_TEST_CASE(many_polls_overflow_nothing)
{
    queue_polls polls(1ms, 1s);
    for (int poll = 0; poll < 1000; ++poll)
    {
        const nanoseconds expected = std::min<nanoseconds>(1s, 1ms * (1 << std::min(poll, 10)));
        BOOST_TEST(polls.next(1, nothing_known, 0) == expected, "poll " << poll);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace backoff_tests
