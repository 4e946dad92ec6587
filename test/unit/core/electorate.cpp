#include "core/electorate.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>

BOOST_AUTO_TEST_SUITE(test_electorate)

using redlock::core::electorate;

BOOST_AUTO_TEST_CASE(quorums_of_small_sets_are_those_of_the_table)
{
    constexpr std::array<std::size_t, 7> expected{1, 2, 2, 3, 3, 4, 4};

    for (std::size_t nodes = 1; nodes <= expected.size(); ++nodes)
        BOOST_TEST_CONTEXT(nodes << " nodes")
        {
            BOOST_TEST(electorate(nodes).quorum() == expected[nodes - 1]);
        }
}

BOOST_AUTO_TEST_CASE(two_quorums_of_the_same_nodes_share_a_node)
{
    for (std::size_t nodes = 1; nodes <= 255; ++nodes)
        BOOST_TEST_CONTEXT(nodes << " nodes")
        {
            BOOST_TEST(2 * electorate(nodes).quorum() > nodes);
        }
}

BOOST_AUTO_TEST_CASE(no_smaller_number_of_nodes_would_do)
{
    for (std::size_t nodes = 1; nodes <= 255; ++nodes)
        BOOST_TEST_CONTEXT(nodes << " nodes")
        {
            BOOST_TEST(2 * (electorate(nodes).quorum() - 1) <= nodes);
        }
}

BOOST_AUTO_TEST_CASE(a_quorum_is_possible_without_the_spare_nodes_and_no_more)
{
    for (std::size_t nodes = 1; nodes <= 255; ++nodes)
        BOOST_TEST_CONTEXT(nodes << " nodes")
        {
            const std::size_t spare = electorate(nodes).spare();

            BOOST_TEST(nodes - spare >= electorate(nodes).quorum());
            BOOST_TEST(nodes - spare - 1 < electorate(nodes).quorum());
        }
}

BOOST_AUTO_TEST_SUITE_END()
