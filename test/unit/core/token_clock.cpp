#include "core/token_clock.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(test_token_clock)

using namespace redlock;
using namespace redlock::core;

namespace {

using namespace std::chrono_literals;

constexpr microseconds now{1'790'000'000'000'000};
constexpr std::uint64_t token_of_now = 1'790'000'000'000'000;

BOOST_AUTO_TEST_CASE(a_token_is_the_time)
{
    token_clock clock;
    BOOST_TEST(clock.next(now, 0) == token_of_now);
}

BOOST_AUTO_TEST_CASE(tokens_go_on_increasing_when_time_stands_still)
{
    token_clock clock;
    const std::uint64_t first = clock.next(now, 0);
    BOOST_TEST(clock.next(now, 0) > first);
}

BOOST_AUTO_TEST_CASE(tokens_go_on_increasing_when_the_wall_clock_goes_back)
{
    token_clock clock;
    const std::uint64_t first = clock.next(now, 0);
    BOOST_TEST(clock.next(now - 1h, 0) > first);
}

BOOST_AUTO_TEST_CASE(a_token_exceeds_what_it_is_asked_to_exceed)
{
    token_clock clock;
    BOOST_TEST(clock.next(now, token_of_now + 7) == token_of_now + 8);
}

BOOST_AUTO_TEST_CASE(what_one_resource_asks_for_does_not_concern_the_next)
{
    token_clock clock;
    static_cast<void>(clock.next(now, token_of_now + 1'000'000'000));
    BOOST_TEST(clock.next(now + 1s, 0) == token_of_now + 1'000'000);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_off_learns_the_median_of_the_nodes)
{
    token_clock clock;
    BOOST_TEST((clock.learn({now + 5s, now + 1h, now + 4s}, now, 0ms) == 5s));
    BOOST_TEST(clock.next(now, 0) == token_of_now + 5'000'000);
}

BOOST_AUTO_TEST_CASE(of_two_in_the_middle_the_nearer_one_counts)
{
    token_clock clock;
    clock.learn({now + 4s, now + 1s, now + 3s, now + 2s}, now, 0ms);
    BOOST_TEST(clock.next(now, 0) == token_of_now + 2'000'000);
    clock.learn({now - 1s, now + 5s, now - 2s, now + 4s}, now, 0ms);
    BOOST_TEST(clock.stamp(now) == token_of_now + 4'000'000);
}

BOOST_AUTO_TEST_CASE(between_two_in_the_middle_a_clock_stays_as_it_is)
{
    token_clock clock;
    BOOST_TEST((clock.approach({now - 10ms, now + 1ms, now - 1h, now + 1h}, 0, now, 0ms) == 0s));
    BOOST_TEST(clock.stamp(now) == token_of_now);
}

BOOST_AUTO_TEST_CASE(nodes_that_do_not_answer_may_be_on_either_side_of_the_median)
{
    token_clock clock;
    clock.approach({now - 10ms, now}, 1, now, 0ms);
    BOOST_TEST(clock.stamp(now) == token_of_now);
    clock.approach({now - 10ms, now - 5ms, now}, 2, now, 0ms);
    BOOST_TEST(clock.stamp(now) == token_of_now);
    clock.approach({now + 2ms, now + 8ms, now + 5ms}, 2, now, 0ms);
    BOOST_TEST(clock.stamp(now) == token_of_now + 2'000);
}

BOOST_AUTO_TEST_CASE(two_nodes_of_three_that_are_ahead_are_not_followed_if_two_more_are_missing)
{
    token_clock clock;
    clock.approach({now, now + 1h, now + 1h}, 2, now, 0ms);
    BOOST_TEST(clock.stamp(now) == token_of_now);
}

BOOST_AUTO_TEST_CASE(a_clock_moves_only_as_far_as_a_slow_round_shows)
{
    token_clock clock;
    BOOST_TEST((clock.learn({now + 40ms, now - 50ms, now + 50ms}, now, 50ms) == 0ms));
    BOOST_TEST((clock.approach({now + 40ms, now - 50ms, now + 50ms}, 0, now, 50ms) == 0ms));
    BOOST_TEST((clock.learn({now + 1s, now + 1s, now + 1s}, now, 50ms) == 950ms));
    BOOST_TEST((clock.approach({now + 2s, now + 2s, now + 2s}, 0, now, 50ms) == 1s));
}

BOOST_AUTO_TEST_CASE(a_client_from_the_future_comes_back)
{
    token_clock clock;
    static_cast<void>(clock.next(now + 24h * 3650, 0));
    clock.learn({now, now, now}, now + 24h * 3650, 0ms);
    BOOST_TEST(clock.next(now + 24h * 3650 + 1s, 0) == token_of_now + 1'000'000);
}

BOOST_AUTO_TEST_CASE(a_stamp_is_the_nodes_time_and_may_repeat)
{
    token_clock clock;
    clock.learn({now}, now + 3s, 0ms);
    BOOST_TEST(clock.stamp(now + 3s) == token_of_now);
    BOOST_TEST(clock.stamp(now + 3s) == token_of_now);
}

BOOST_AUTO_TEST_CASE(a_senseless_clock_makes_a_token_that_a_script_can_hold)
{
    token_clock early;
    BOOST_TEST(early.next(microseconds(-5), 0) >= 1u);
    token_clock late;
    BOOST_TEST(late.next(microseconds(std::int64_t{1} << 60), 0) < token_end);
    BOOST_TEST(late.next(now, token_end) < token_end);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
