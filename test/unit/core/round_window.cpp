#include "core/round_window.hpp"

#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_round_window)

using namespace std::chrono_literals;
using redlock::time_point;
using redlock::core::nanoseconds;
using redlock::core::round_window;

namespace {

constexpr std::size_t first = 64;
constexpr nanoseconds patience = 100ms;

/// A window, and a clock that stands at the end of the last round.
struct window_of_test
{
    /// A round that the nodes have answered.
    void answered(nanoseconds took, std::size_t under_way) { round(took, under_way, true); }

    void answered(nanoseconds took) { answered(took, window.size()); }

    void lost(nanoseconds took) { round(took, window.size(), false); }

    void round(nanoseconds took, std::size_t under_way, bool answered)
    {
        now += took;
        window.on_round(now - took, now, under_way, answered);
    }

    /// Quick rounds, until the window is as large as it gets.
    void open_wide()
    {
        for (int i = 0; i < 10'000; ++i)
            answered(1ms);
    }

    round_window window{patience};
    time_point now{1h};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(it_starts_small_and_grows_by_one_with_each_quick_round, window_of_test)
{
    BOOST_TEST(window.size() == first);
    answered(1ms);
    BOOST_TEST(window.size() == first + 1);
    answered(1ms);
    BOOST_TEST(window.size() == first + 2);
}

BOOST_FIXTURE_TEST_CASE(a_window_that_is_not_in_use_does_not_grow, window_of_test)
{
    for (int i = 0; i < 1000; ++i)
        answered(1ms, first / 2 - 1);
    BOOST_TEST(window.size() == first);
}

BOOST_FIXTURE_TEST_CASE(it_asks_a_node_for_no_more_than_half_of_what_that_takes, window_of_test)
{
    open_wide();
    BOOST_TEST(window.size() == redlock::core::max_unanswered / 2);
}

BOOST_FIXTURE_TEST_CASE(a_lost_round_takes_a_third, window_of_test)
{
    open_wide();
    const std::size_t before = window.size();
    lost(1ms);
    BOOST_TEST(window.size() == before * 2 / 3);
}

BOOST_FIXTURE_TEST_CASE(
    a_round_that_waits_for_more_than_a_quarter_of_the_patience_takes_a_third,
    window_of_test
)
{
    open_wide();
    const std::size_t before = window.size();
    answered(1ms + patience / 4);
    BOOST_TEST(window.size() == before);
    answered(2ms + patience / 4);
    BOOST_TEST(window.size() == before * 2 / 3);
}

BOOST_FIXTURE_TEST_CASE(rounds_that_began_before_a_cut_take_nothing_more, window_of_test)
{
    open_wide();
    const time_point started = now;
    now += 1s;
    for (int i = 0; i < 100; ++i)
        window.on_round(started, now, window.size(), false);
    BOOST_TEST(window.size() == redlock::core::max_unanswered / 3);
}

BOOST_FIXTURE_TEST_CASE(after_a_cut_it_grows_by_one_in_a_whole_window, window_of_test)
{
    open_wide();
    lost(1ms);
    const std::size_t before = window.size();
    for (std::size_t i = 0; i < 10 * before; ++i)
        answered(1ms);
    BOOST_TEST(window.size() >= before + 9);
    BOOST_TEST(window.size() <= before + 11);
}

BOOST_FIXTURE_TEST_CASE(lost_rounds_leave_no_less_than_it_starts_with, window_of_test)
{
    for (int i = 0; i < 100; ++i)
        lost(1ms);
    BOOST_TEST(window.size() == first);
}

BOOST_FIXTURE_TEST_CASE(slow_nodes_and_many_clients_are_left_a_small_one, window_of_test)
{
    answered(1ms);
    for (int i = 0; i < 100; ++i)
        answered(patience);
    BOOST_TEST(window.size() == 4u);
    lost(1ms);
    BOOST_TEST(window.size() == 4u);
    for (int i = 0; i < 10'000; ++i)
        answered(1ms);
    BOOST_TEST(window.size() > first);
}

BOOST_FIXTURE_TEST_CASE(far_nodes_make_no_window_smaller, window_of_test)
{
    for (int i = 0; i < 100; ++i)
        answered(patience);
    BOOST_TEST(window.size() == first + 100);
}

BOOST_FIXTURE_TEST_CASE(nodes_that_were_busy_all_the_time_are_slow_and_not_far, window_of_test)
{
    answered(4 * patience);
    BOOST_TEST(window.size() == first * 2 / 3);
}

BOOST_FIXTURE_TEST_CASE(
    nodes_that_have_moved_away_are_near_for_twenty_seconds_at_most,
    window_of_test
)
{
    open_wide();
    lost(1ms);
    for (int i = 0; i < 250; ++i)
        answered(90ms);
    const std::size_t after = window.size();
    for (std::size_t i = 0; i < after + 1; ++i)
        answered(90ms);
    BOOST_TEST(window.size() > after);
}

BOOST_FIXTURE_TEST_CASE(
    the_shortest_round_is_zero_before_the_first_one_and_lost_ones_do_not_count,
    window_of_test
)
{
    BOOST_TEST(window.shortest() == 0ns);
    lost(1ms);
    BOOST_TEST(window.shortest() == 0ns);
    answered(5ms);
    answered(3ms);
    answered(7ms);
    BOOST_TEST(window.shortest() == 3ms);
}

BOOST_FIXTURE_TEST_CASE(
    nodes_that_come_back_find_the_window_small_and_the_distance_known,
    window_of_test
)
{
    open_wide();
    window.start_again();
    BOOST_TEST(window.size() == first);
    BOOST_TEST(window.shortest() == 1ms);
    answered(1ms);
    BOOST_TEST(window.size() == first + 1);
}

BOOST_FIXTURE_TEST_CASE(a_small_window_is_as_small_when_nodes_come_back, window_of_test)
{
    answered(1ms);
    for (int i = 0; i < 100; ++i)
        answered(patience);
    window.start_again();
    BOOST_TEST(window.size() == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
