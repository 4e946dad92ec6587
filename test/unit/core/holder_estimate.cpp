#include "core/holder_estimate.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_holder_estimate)

using namespace redlock;
using namespace std::chrono_literals;
using core::free_after;

BOOST_AUTO_TEST_CASE(as_many_keys_as_needed_must_have_expired)
{
    const std::vector<milliseconds> held_for{300ms, 100ms, 200ms};

    BOOST_TEST((free_after(held_for, 1) == 100ms));
    BOOST_TEST((free_after(held_for, 2) == 200ms));
    BOOST_TEST((free_after(held_for, 3) == 300ms));
}

BOOST_AUTO_TEST_CASE(the_order_of_the_answers_does_not_matter)
{
    std::vector<milliseconds> held_for{0ms, 100ms, 100ms, 200ms, forever};
    do
    {
        BOOST_TEST((free_after(held_for, 1) == 0ms));
        BOOST_TEST((free_after(held_for, 3) == 100ms));
        BOOST_TEST((free_after(held_for, 4) == 200ms));
    } while (std::ranges::next_permutation(held_for).found);
}

BOOST_AUTO_TEST_CASE(nothing_is_known_when_fewer_nodes_said_something_than_are_needed)
{
    BOOST_TEST(!free_after({}, 1).has_value());
    BOOST_TEST(!free_after({100ms}, 2).has_value());
    BOOST_TEST(!free_after({100ms, forever}, 3).has_value());
}

BOOST_AUTO_TEST_CASE(nothing_has_to_expire_when_no_node_is_needed)
{
    BOOST_TEST((free_after({}, 0) == 0ms));
    BOOST_TEST((free_after({forever}, 0) == 0ms));
}

BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_never_becomes_free)
{
    BOOST_TEST((free_after({forever}, 1) == forever));
    BOOST_TEST((free_after({forever, 5ms}, 2) == forever));
    BOOST_TEST((free_after({forever, 5ms}, 1) == 5ms));
}

BOOST_AUTO_TEST_SUITE_END()
