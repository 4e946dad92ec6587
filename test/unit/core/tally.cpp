#include "core/tally.hpp"

#include "unit/core/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_tally)

using namespace redlock;
using namespace std::chrono_literals;
using core::aim;
using core::electorate;
using core::instant;
using core::shifted;
using core::tally;
using core::verdict;

namespace {

constexpr std::array all_votes{vote::granted, vote::denied, vote::refused, vote::unknown};

/// Well after the epoch, and different on both clocks.
constexpr instant start{time_point(1h), 5h};
constexpr instant deadline = shifted(start, 9000ms);

tally tally_of(std::size_t node_count, const std::vector<vote>& votes, aim of = aim::grants)
{
    tally result(electorate(node_count), of);
    for (const vote each : votes)
        result.on_vote(each);
    return result;
}

tally granted_by_two_of_three()
{
    return tally_of(3, {vote::granted, vote::granted});
}

std::string text_of(const std::vector<vote>& votes)
{
    std::string text = "votes";
    for (const vote each : votes)
        text += std::string(" ") + to_string(each);
    return text;
}

/// Every sequence of as many votes as there are nodes: 4^node_count.
std::vector<std::vector<vote>> every_sequence(std::size_t node_count)
{
    std::vector<std::vector<vote>> sequences{{}};
    for (std::size_t position = 0; position < node_count; ++position)
    {
        std::vector<std::vector<vote>> longer;
        for (const std::vector<vote>& each : sequences)
            for (const vote next : all_votes)
            {
                longer.push_back(each);
                longer.back().push_back(next);
            }
        sequences = std::move(longer);
    }
    return sequences;
}

/** The definition of one moment: what `votes` say if they are all there is so far.

    A quorum is more than half of the nodes. It is impossible if not even all nodes that did not
    answer yet could complete it.
*/
verdict definition(std::size_t node_count, const std::vector<vote>& votes)
{
    const auto count = [&](vote wanted) {
        return static_cast<std::size_t>(std::ranges::count(votes, wanted));
    };
    const bool quorum = 2 * count(vote::granted) > node_count;
    const std::size_t possible = count(vote::granted) + (node_count - votes.size());
    const bool lost = 2 * possible <= node_count;
    const verdict cause = count(vote::denied) > 0    ? verdict::contended
                          : count(vote::refused) > 0 ? verdict::rejected
                                                     : verdict::unreachable;
    return quorum ? verdict::granted : lost ? cause : verdict::undecided;
}

/// The verdict after each vote: the definition's, and the first decision stays.
std::vector<verdict> definition_over_time(std::size_t node_count, const std::vector<vote>& votes)
{
    std::vector<verdict> verdicts;
    verdict decided = verdict::undecided;
    for (std::size_t seen = 1; seen <= votes.size(); ++seen)
    {
        const auto end = votes.begin() + static_cast<std::ptrdiff_t>(seen);
        const verdict now = definition(node_count, std::vector<vote>(votes.begin(), end));
        decided = decided == verdict::undecided ? now : decided;
        verdicts.push_back(decided);
    }
    return verdicts;
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

/// Whether more than half of the nodes granted or denied.
bool answered_by_majority(std::size_t node_count, const std::vector<vote>& votes)
{
    const auto sure = std::ranges::count_if(votes, [](vote each) {
        return each == vote::granted || each == vote::denied;
    });
    return 2 * static_cast<std::size_t>(sure) > node_count;
}

/// `votes`, and `rest` from every node that did not answer.
std::vector<vote> completed(std::size_t node_count, std::vector<vote> votes, vote rest)
{
    votes.resize(node_count, rest);
    return votes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_votes_decide_nothing)
{
    for (std::size_t nodes = 1; nodes <= 255; ++nodes)
        BOOST_TEST_CONTEXT(nodes << " nodes")
        {
            const tally votes{electorate(nodes)};

            BOOST_TEST(votes.by_votes() == verdict::undecided);
            BOOST_TEST(votes.missing() == nodes);
            BOOST_TEST(!votes.denied_by_majority());
        }
}

BOOST_AUTO_TEST_CASE(every_sequence_of_votes_agrees_with_the_definition_at_each_step)
{
    std::size_t sequences = 0;
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for (const std::vector<vote>& sequence : every_sequence(nodes))
            BOOST_TEST_CONTEXT(text_of(sequence))
            {
                const std::vector<verdict> expected = definition_over_time(nodes, sequence);
                tally votes{electorate(nodes)};
                for (std::size_t step = 0; step < nodes; ++step)
                {
                    votes.on_vote(sequence[step]);
                    BOOST_TEST(votes.by_votes() == expected[step], "after vote " << step + 1);
                    BOOST_TEST(votes.missing() == nodes - step - 1);
                }
                BOOST_TEST(votes.by_votes() != verdict::undecided);
                ++sequences;
            }
    BOOST_TEST(sequences == 4u + 16u + 64u + 256u + 1024u);
}

BOOST_AUTO_TEST_CASE(every_vote_is_counted_also_after_the_decision)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for (const std::vector<vote>& sequence : every_sequence(nodes))
            BOOST_TEST_CONTEXT(text_of(sequence))
            {
                const tally votes = tally_of(nodes, sequence);
                const auto count = [&](vote wanted) {
                    return static_cast<std::size_t>(std::ranges::count(sequence, wanted));
                };

                BOOST_TEST(votes.granted() == count(vote::granted));
                BOOST_TEST(votes.denied() == count(vote::denied));
                BOOST_TEST(votes.refused() == count(vote::refused));
                BOOST_TEST(votes.unknown() == count(vote::unknown));
                BOOST_TEST(votes.denied_by_majority() == (2 * count(vote::denied) >= nodes));
            }
}

BOOST_AUTO_TEST_CASE(the_cause_of_a_lost_round_is_what_a_caller_can_act_on)
{
    constexpr vote granted = vote::granted;
    constexpr vote denied = vote::denied;
    constexpr vote refused = vote::refused;
    constexpr vote unknown = vote::unknown;
    struct
    {
        std::vector<vote> votes;
        verdict expected;
    } const cases[] = {
        {{unknown, unknown, unknown}, verdict::unreachable},
        {{unknown, unknown, unknown, denied, denied}, verdict::unreachable},
        {{granted, granted, unknown, unknown, unknown}, verdict::unreachable},
        {{unknown, unknown, denied}, verdict::contended},
        {{denied, unknown, unknown, unknown, unknown}, verdict::contended},
        {{denied, denied, denied}, verdict::contended},
        {{granted, granted, denied, denied, denied}, verdict::contended},
        {{refused, refused, denied}, verdict::contended},
        {{refused, refused, refused}, verdict::rejected},
        {{unknown, unknown, refused}, verdict::rejected},
        {{refused, refused, refused, denied, denied}, verdict::rejected},
        {{granted, granted, denied, denied}, verdict::undecided},
        {{granted, granted, denied, denied, granted}, verdict::granted},
    };

    for (const auto& each : cases)
        BOOST_TEST_CONTEXT(text_of(each.votes))
        {
            BOOST_TEST(tally_of(5, each.votes).by_votes() == each.expected);
        }
}

BOOST_AUTO_TEST_CASE(the_largest_round_is_decided_by_the_vote_that_makes_half_and_one)
{
    tally votes{electorate(255)};
    for (int i = 0; i < 127; ++i)
        votes.on_vote(vote::granted);
    BOOST_TEST(votes.by_votes() == verdict::undecided);

    votes.on_vote(vote::granted);

    BOOST_TEST(votes.by_votes() == verdict::granted);
}

BOOST_AUTO_TEST_CASE(a_quorum_before_the_deadline_is_granted)
{
    const tally votes = granted_by_two_of_three();

    BOOST_TEST(votes.at(start, deadline) == verdict::granted);
    BOOST_TEST(votes.at(shifted(deadline, -1ns), deadline) == verdict::granted);
}

BOOST_AUTO_TEST_CASE(a_quorum_at_the_deadline_of_either_clock_is_too_late)
{
    const tally votes = granted_by_two_of_three();
    const instant before = shifted(deadline, -1ns);

    BOOST_TEST(votes.at(deadline, deadline) == verdict::too_late);
    BOOST_TEST(votes.at({deadline.steady, before.boot}, deadline) == verdict::too_late);
    BOOST_TEST(votes.at({before.steady, deadline.boot}, deadline) == verdict::too_late);
}

BOOST_AUTO_TEST_CASE(a_quorum_found_after_a_suspension_is_too_late_although_the_steady_clock_froze)
{
    const tally votes = granted_by_two_of_three();
    const instant resumed{start.steady, start.boot + 1h};

    BOOST_TEST(votes.at(resumed, deadline) == verdict::too_late);
}

BOOST_AUTO_TEST_CASE(a_round_without_a_decision_at_the_deadline_is_too_late)
{
    const tally votes = tally_of(3, {vote::granted});

    BOOST_TEST(votes.at(start, deadline) == verdict::undecided);
    BOOST_TEST(votes.at(deadline, deadline) == verdict::too_late);
}

BOOST_AUTO_TEST_CASE(the_cause_of_a_lost_round_does_not_change_with_time)
{
    for (const std::vector<vote>& sequence : every_sequence(3))
        BOOST_TEST_CONTEXT(text_of(sequence))
        {
            const tally votes = tally_of(3, sequence);
            const bool granted = votes.by_votes() == verdict::granted;

            BOOST_TEST(votes.at(start, deadline) == votes.by_votes());
            BOOST_TEST(
                votes.at(shifted(deadline, milliseconds(1h)), deadline) ==
                (granted ? verdict::too_late : votes.by_votes())
            );
        }
}

BOOST_AUTO_TEST_CASE(asking_too_late_does_not_change_what_the_votes_say)
{
    const tally votes = granted_by_two_of_three();

    BOOST_TEST(votes.at(deadline, deadline) == verdict::too_late);
    BOOST_TEST(votes.by_votes() == verdict::granted);
    BOOST_TEST(votes.at(start, deadline) == verdict::granted);
}

BOOST_AUTO_TEST_CASE(what_needs_answers_succeeds_when_a_majority_has_given_one)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const tally count = tally_of(nodes, votes, aim::answers);
                BOOST_TEST(count.succeeded() == answered_by_majority(nodes, votes));
                BOOST_TEST(count.answered() == answered_by_majority(nodes, votes));
            }
        });
}

BOOST_AUTO_TEST_CASE(what_needs_answers_is_decided_as_soon_as_no_further_one_can_change_it)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const bool at_best =
                    answered_by_majority(nodes, completed(nodes, votes, vote::granted));
                const bool at_worst =
                    answered_by_majority(nodes, completed(nodes, votes, vote::unknown));

                const tally count = tally_of(nodes, votes, aim::answers);
                BOOST_TEST(count.decided() == (at_best == at_worst));
            }
        });
}

BOOST_AUTO_TEST_CASE(what_needs_all_is_decided_by_the_last)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const tally count = tally_of(nodes, votes, aim::all);
                BOOST_TEST(count.decided() == (votes.size() == nodes));
                BOOST_TEST(count.succeeded() == (votes.size() == nodes));
            }
        });
}

BOOST_AUTO_TEST_CASE(a_bare_quorum_of_grants_is_told_from_all)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes)
        for_each_prefix(nodes, [&](const std::vector<vote>& votes) {
            BOOST_TEST_CONTEXT(text_of(votes))
            {
                const auto granted =
                    static_cast<std::size_t>(std::ranges::count(votes, vote::granted));
                const bool barely = 2 * granted > nodes && 2 * (granted - 1) <= nodes;
                const tally count = tally_of(nodes, votes);
                BOOST_TEST(count.barely_granted() == (barely && granted < nodes));
            }
        });
}

BOOST_AUTO_TEST_SUITE_END()
