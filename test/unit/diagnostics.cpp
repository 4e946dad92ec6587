#include <redlock/diagnostics.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "support/contains.hpp"
#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_diagnostics)

using namespace redlock;
using namespace std::chrono_literals;
using redlock::test::contains;

namespace {

constexpr std::array all_reasons{
    reason::none,
    reason::held,
    reason::gone,
    reason::timeout,
    reason::connecting,
    reason::down,
    reason::connection_lost,
    reason::overloaded,
    reason::error_reply,
    reason::rejected,
    reason::unexpected_reply,
    reason::fence,
    reason::clock,
    reason::unmarked,
    reason::quarantined,
    reason::config_mismatch,
    reason::same_server,
    reason::other_server,
    reason::replica,
    reason::cluster,
    reason::eviction,
    reason::in_use,
    reason::revoked,
    reason::too_few_replicas,
};

constexpr std::array all_votes{vote::granted, vote::denied, vote::refused, vote::unknown};

node_vote voted(redlock::vote vote, redlock::reason why)
{
    node_vote result;
    result.node = "n1:6379";
    result.vote = vote;
    result.reason = why;
    return result;
}

/// The line of a report with one vote, without its beginning.
std::string said(const node_vote& vote)
{
    const std::string line = to_string(diagnostics{1, 1, {vote}});
    const std::string_view head = "need 1 of 1: n1:6379 ";
    BOOST_TEST(line.starts_with(head), line);
    return line.substr(head.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(votes_and_reasons_have_names_of_their_own)
{
    std::set<std::string> names;
    for (const vote each : all_votes)
        BOOST_TEST(names.insert(to_string(each)).second, to_string(each));
    names.clear();
    for (const reason each : all_reasons)
        BOOST_TEST(names.insert(to_string(each)).second, to_string(each));

    BOOST_TEST(names.count("unknown") == 0u);
    BOOST_TEST(to_string(static_cast<vote>(all_votes.size())) == std::string("unknown"));
    BOOST_TEST(to_string(static_cast<reason>(all_reasons.size())) == std::string("unknown"));
}

BOOST_AUTO_TEST_CASE(a_report_without_a_round_says_so)
{
    BOOST_TEST(to_string(diagnostics()) == "no round was started");
}

BOOST_AUTO_TEST_CASE(a_report_without_a_round_says_why_if_it_knows)
{
    diagnostics report;
    report.problem = "ttl is 5 ms, must be 10 to 30000 ms";
    BOOST_TEST(to_string(report) == "no round was started: ttl is 5 ms, must be 10 to 30000 ms");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_in_use_before_is_not_called_refused)
{
    node_vote vote = voted(vote::denied, reason::in_use);
    vote.text = "was in use before: marked 'redlock 1;'";
    BOOST_TEST(said(vote) == "was in use before: marked 'redlock 1;'");
}

BOOST_AUTO_TEST_CASE(a_report_says_what_was_needed_and_what_each_node_answered_in_order)
{
    diagnostics report{2, 1, {voted(vote::granted, reason::none), {}, {}}};
    report.votes[0].round_trip = 400us;
    report.votes[1].node = "n2:6379";
    report.votes[2] = voted(vote::unknown, reason::timeout);
    report.votes[2].node = "n3:6379";

    BOOST_TEST(
        to_string(report) ==
        "need 2 of 3: n1:6379 granted 0.4ms, n2:6379 not answered yet, n3:6379 timeout"
    );
}

BOOST_AUTO_TEST_CASE(a_report_says_whether_this_client_held_the_resource)
{
    diagnostics report{1, 1, {voted(vote::denied, reason::held)}};
    report.held_by_this_client = true;
    BOOST_TEST(to_string(report) == "need 1 of 1: n1:6379 held, held by this client");
    report.problem = "it waits for itself";
    BOOST_TEST(
        to_string(report) == "need 1 of 1: n1:6379 held, held by this client; it waits for itself"
    );

    diagnostics waiting;
    waiting.position = 2;
    waiting.waiters = 3;
    waiting.held_by_this_client = true;
    BOOST_TEST(
        to_string(waiting) == "no round was started: waiting, 2nd of 3, held by this client"
    );
}

BOOST_AUTO_TEST_CASE(a_report_is_printed_as_its_text)
{
    const diagnostics report{1, 1, {voted(vote::granted, reason::none)}};
    std::ostringstream out;

    out << report;

    BOOST_TEST(out.str() == to_string(report));
}

BOOST_AUTO_TEST_CASE(a_grant_tells_how_long_it_took)
{
    node_vote granted = voted(vote::granted, reason::none);
    BOOST_TEST(said(granted) == "granted");

    granted.round_trip = 1250us;
    BOOST_TEST(said(granted) == "granted 1.2ms");
    granted.round_trip = 0us;
    BOOST_TEST(said(granted) == "granted 0.0ms");
    granted.round_trip = 61s;
    BOOST_TEST(said(granted) == "granted 61.0s");
}

BOOST_AUTO_TEST_CASE(a_held_resource_tells_how_long_the_holder_has_left)
{
    node_vote held = voted(vote::denied, reason::held);
    BOOST_TEST(said(held) == "held");

    held.held_for = 8200ms;
    BOOST_TEST(said(held).starts_with("held"));
    BOOST_TEST(contains(said(held), "8.2s left"));
    held.held_for = 0ms;
    BOOST_TEST(contains(said(held), "0.0ms left"));
    held.held_for = 24h;
    BOOST_TEST(contains(said(held), "86400.0s left"));
}

BOOST_AUTO_TEST_CASE(a_holder_without_a_ttl_is_named)
{
    node_vote held = voted(vote::denied, reason::held);
    held.held_for = forever;

    BOOST_TEST(said(held) == "held by a key without a ttl");
}

BOOST_AUTO_TEST_CASE(a_network_error_is_told_with_the_words_of_the_system)
{
    node_vote down = voted(vote::unknown, reason::down);
    down.code = boost::asio::error::connection_refused;
    BOOST_TEST(said(down) == "down: " + down.code.message());

    node_vote lost = voted(vote::unknown, reason::connection_lost);
    lost.code = boost::asio::error::eof;
    lost.round_trip = 3ms;
    BOOST_TEST(said(lost) == "connection lost: " + lost.code.message() + " 3.0ms");
    lost.code = {};
    BOOST_TEST(said(lost) == "connection lost 3.0ms");
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_with_the_words_of_the_server)
{
    node_vote refused = voted(vote::refused, reason::error_reply);
    refused.text = "READONLY You can't write against a read only replica.";
    BOOST_TEST(said(refused) == "refused: " + refused.text);

    refused.reason = reason::rejected;
    refused.text = "is a replica";
    BOOST_TEST(said(refused) == "refused: is a replica");
}

BOOST_AUTO_TEST_CASE(a_quarantine_tells_how_long_it_lasts)
{
    node_vote vote = voted(vote::refused, reason::quarantined);
    BOOST_TEST(said(vote) == "quarantined");
    vote.ready_in = 21'300ms;
    BOOST_TEST(said(vote) == "quarantined, ready in 21.3s");
    vote.ready_in = forever;
    BOOST_TEST(said(vote) == "quarantined without an end");
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_off_tells_by_how_much)
{
    node_vote vote = voted(vote::refused, reason::clock);
    BOOST_TEST(said(vote) == "clock");
    vote.clock_ahead = 1h;
    BOOST_TEST(said(vote) == "clock 3600.0s ahead");
    vote.clock_ahead = -700ms;
    BOOST_TEST(said(vote) == "clock 700.0ms behind");
}

BOOST_AUTO_TEST_CASE(the_other_reasons_are_told_by_their_names)
{
    for (const reason each : {
             reason::gone,
             reason::timeout,
             reason::connecting,
             reason::overloaded,
             reason::unexpected_reply,
         })
        BOOST_TEST(said(voted(vote::unknown, each)) == to_string(each));
}

BOOST_AUTO_TEST_CASE(a_node_that_was_not_asked_has_no_round_trip)
{
    node_vote down = voted(vote::unknown, reason::down);
    down.code = boost::asio::error::connection_refused;
    down.round_trip = 3ms;

    BOOST_TEST(!contains(said(down), "ms"));
}

BOOST_AUTO_TEST_CASE(every_vote_with_every_reason_is_one_line)
{
    for (const vote each : all_votes)
        for (const reason why : all_reasons)
        {
            node_vote answer = voted(each, why);
            answer.code = boost::asio::error::connection_reset;
            answer.text = "ERR no";
            answer.held_for = 5ms;
            answer.round_trip = 1ms;
            const std::string line = said(answer);

            BOOST_TEST(!line.empty());
            BOOST_TEST(!contains(line, "\n"), line);
            const bool says_the_vote = each == vote::unknown && why == reason::none;
            BOOST_TEST(contains(line, "unknown") == says_the_vote, line);
        }
}

BOOST_AUTO_TEST_SUITE_END()
