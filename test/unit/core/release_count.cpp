#include "core/release_count.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_release_count)

using redlock::vote;
using redlock::core::release_count;

namespace {

constexpr std::array all_votes{vote::granted, vote::denied, vote::refused, vote::unknown};

std::string text_of(const std::vector<vote>& votes)
{
    std::string text = "votes";
    for (const vote each : votes)
        text += std::string(" ") + to_string(each);
    return text;
}

release_count count_of(std::size_t node_count, const std::vector<vote>& votes, bool keeps = false)
{
    release_count result(node_count, keeps);
    for (const vote each : votes)
        result.on_vote(each);
    return result;
}

/// Whether more than half of the nodes said that they do not hold the resource for us any more.
bool free_on_a_majority(std::size_t node_count, const std::vector<vote>& votes)
{
    const auto sure = std::ranges::count_if(votes, [](vote each) {
        return each == vote::granted || each == vote::denied;
    });
    return 2 * static_cast<std::size_t>(sure) > node_count;
}

/// Calls `visit` with every sequence of up to `node_count` votes, the empty one included.
template <class F>
void for_each_prefix(std::size_t node_count, std::vector<vote>& votes, const F& visit)
{
    visit(votes);
    for (const vote each : all_votes)
        if (votes.size() < node_count)
        {
            votes.push_back(each);
            for_each_prefix(node_count, votes, visit);
            votes.pop_back();
        }
}

template <class F>
void for_each_prefix(std::size_t node_count, const F& visit)
{
    std::vector<vote> votes;
    for_each_prefix(node_count, votes, visit);
}

/// `votes`, and `rest` from every node that did not answer.
std::vector<vote> completed(std::size_t node_count, std::vector<vote> votes, vote rest)
{
    votes.resize(node_count, rest);
    return votes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_release_is_confirmed_when_a_majority_does_not_hold_the_key)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                BOOST_TEST(count_of(nodes, votes).confirmed() == free_on_a_majority(nodes, votes));
            }
        });
}

BOOST_AUTO_TEST_CASE(a_release_that_keeps_needs_a_majority_that_had_the_key)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const std::size_t kept =
                    static_cast<std::size_t>(std::count(votes.begin(), votes.end(), vote::granted));
                const std::size_t possible = kept + nodes - votes.size();
                const release_count count = count_of(nodes, votes, true);
                BOOST_TEST(count.confirmed() == (2 * kept > nodes));
                BOOST_TEST(count.answered() == free_on_a_majority(nodes, votes));
                BOOST_TEST(count.decided() == (2 * kept > nodes || 2 * possible <= nodes));
            }
        });
}

BOOST_AUTO_TEST_CASE(waiting_ends_exactly_when_no_further_answer_can_change_the_outcome)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const bool at_best =
                    free_on_a_majority(nodes, completed(nodes, votes, vote::granted));
                const bool at_worst =
                    free_on_a_majority(nodes, completed(nodes, votes, vote::unknown));

                BOOST_TEST(count_of(nodes, votes).decided() == (at_best == at_worst));
            }
        });
}

BOOST_AUTO_TEST_CASE(a_key_that_one_node_deleted_was_deleted)
{
    for_each_prefix(5, [&](const std::vector<vote>& votes) {
        const bool deleted = std::ranges::count(votes, vote::granted) > 0;
        BOOST_TEST(count_of(5, votes).any_deleted() == deleted, text_of(votes));
    });
}

BOOST_AUTO_TEST_CASE(a_refusal_confirms_nothing)
{
    const release_count count = count_of(1, {vote::refused});

    BOOST_TEST(count.decided());
    BOOST_TEST(!count.confirmed());
}

BOOST_AUTO_TEST_SUITE_END()
