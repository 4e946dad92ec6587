#include "core/queue_place.hpp"

#include "unit/core/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_queue_place)

using namespace redlock;
using core::queue_move;
using core::queue_place;

namespace {

/// What has become of the rounds of an acquisition.
enum class story
{
    tries,  ///< It does not wait in the queues.
    tries_and_loses,
    waits,  ///< None was lost.
    waits_and_loses,
    loses_by_a_wrong_clock,
};

queue_place place_after(story told)
{
    const bool waits = told != story::tries && told != story::tries_and_loses;
    queue_place place = waits ? queue_place::in_queues() : queue_place();
    if (told != story::tries && told != story::waits)
        place.lose_round();
    if (told == story::loses_by_a_wrong_clock)
        place.forget_arrival();
    return place;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_may_be_in_a_queue_is_kept_while_it_is_waited_for_and_left_at_the_end)
{
    constexpr queue_move none = queue_move::none;
    constexpr queue_move keep = queue_move::keep;
    constexpr queue_move leave = queue_move::leave;
    struct
    {
        const char* what;
        story told;
        queue_move in_round;
        queue_move at_end;
        queue_move at_release;         ///< Of a hold that all nodes have granted.
        queue_move at_release_denied;  ///< Of one that some node has denied, or may yet.
    } const cases[] = {
        {"tries", story::tries, none, none, none, none},
        {"tries and loses", story::tries_and_loses, none, none, none, none},
        {"waits", story::waits, keep, none, none, leave},
        {"waits and loses", story::waits_and_loses, keep, leave, leave, leave},
        {"loses by a wrong clock", story::loses_by_a_wrong_clock, keep, leave, leave, leave},
    };

    for (const auto& each : cases)
        BOOST_TEST_CONTEXT(each.what)
        {
            const queue_place place = place_after(each.told);
            BOOST_TEST(place.in_round() == each.in_round);
            BOOST_TEST(place.at_end() == each.at_end);
            BOOST_TEST(place.at_release(0, false) == each.at_release);
            for (const std::size_t denials : {1u, 2u, 15u})
                BOOST_TEST(place.at_release(denials, false) == each.at_release_denied);
        }
}

BOOST_AUTO_TEST_CASE(a_hold_leaves_for_the_next_acquisition_of_its_client)
{
    for (const story told : {story::tries, story::waits, story::waits_and_loses})
        for (const std::size_t denials : {0u, 1u})
            BOOST_TEST(place_after(told).at_release(denials, true) == queue_move::leave);
}

BOOST_AUTO_TEST_CASE(the_first_arrival_counts_until_it_is_forgotten)
{
    queue_place place = queue_place::in_queues();

    BOOST_TEST(place.arrive(5) == 5u);
    BOOST_TEST(place.arrive(7) == 5u);
    place.lose_round();
    BOOST_TEST(place.arrive(9) == 5u);
    place.forget_arrival();
    BOOST_TEST(place.arrive(9) == 9u);
}

BOOST_AUTO_TEST_SUITE_END()
