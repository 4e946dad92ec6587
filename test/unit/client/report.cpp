#include <redlock/diagnostics.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_report)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

/// Tries to acquire once and returns the account of it.
diagnostics report_of_one_round(client_fixture& fixture)
{
    diagnostics report;
    fixture.complete(fixture.locks().async_try_acquire("orders:42", {.report = &report}));
    BOOST_TEST_REQUIRE(report.votes.size() == fixture.node_count());
    return report;
}

/// How a node fails to vote, and what the report says of it.
struct mishap
{
    const char* name;
    void (*begin)(fake_node&);
    vote said;
    reason why;
    std::string text{};
    error_code code{};
    std::optional<milliseconds> round_trip{};
};

const mishap mishaps[] = {
    {.name = "silence",
     .begin = [](fake_node& node) { node.on(verb::acquire).never(); },
     .said = vote::unknown,
     .why = reason::timeout,
     .round_trip = 50ms},
    {.name = "an error, in the words of the server",
     .begin = [](fake_node& node) { node.on(verb::acquire).error("MISCONF Errors writing"); },
     .said = vote::refused,
     .why = reason::error_reply,
     .text = "MISCONF Errors writing"},
    {.name = "an answer of the wrong shape",
     .begin = [](fake_node& node
              ) { node.on(verb::acquire).reply(vote::unknown, reason::unexpected_reply); },
     .said = vote::unknown,
     .why = reason::unexpected_reply},
    {.name = "a connection that breaks",
     .begin = [](fake_node& node) { node.on(verb::acquire).breaks_connection(1s); },
     .said = vote::unknown,
     .why = reason::connection_lost,
     .code = asio::error::connection_reset},
    {.name = "a node that takes no question",
     .begin = [](fake_node& node) { node.on(verb::acquire).absent(reason::overloaded); },
     .said = vote::unknown,
     .why = reason::overloaded},
    {.name = "a node that is down",
     .begin = [](fake_node& node
              ) { node.becomes(node_state::down, "refused", asio::error::connection_refused); },
     .said = vote::unknown,
     .why = reason::down,
     .text = "refused",
     .code = asio::error::connection_refused},
    {.name = "a node that was rejected",
     .begin = [](fake_node& node) { node.becomes(node_state::rejected, "WRONGPASS"); },
     .said = vote::refused,
     .why = reason::rejected,
     .text = "WRONGPASS"},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_report_names_the_nodes_in_order_and_the_quorum)
{
    running_client fixture;

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST(report.quorum == 3u);
    BOOST_TEST(report.rounds == 1u);
    for (std::size_t index = 0; index < 5; ++index)
        BOOST_TEST(report.votes[index].node == "node" + std::to_string(index));
}

BOOST_AUTO_TEST_CASE(nodes_that_had_not_answered_at_the_decision_have_no_vote)
{
    running_client fixture;
    for (int index = 0; index < 5; ++index)
        fixture.node(static_cast<std::size_t>(index)).on(verb::acquire).after(index * 2ms);

    const diagnostics report = report_of_one_round(fixture);

    for (std::size_t index = 0; index < 3; ++index)
    {
        BOOST_TEST_REQUIRE(report.votes[index].vote.has_value());
        BOOST_TEST(*report.votes[index].vote == vote::granted);
        BOOST_TEST(report.votes[index].reason == reason::none);
        BOOST_TEST_REQUIRE(report.votes[index].round_trip.has_value());
        BOOST_TEST(*report.votes[index].round_trip == static_cast<int>(index) * 2ms);
    }
    for (std::size_t index = 3; index < 5; ++index)
    {
        BOOST_TEST(!report.votes[index].vote.has_value());
        BOOST_TEST(report.votes[index].reason == reason::none);
        BOOST_TEST(!report.votes[index].round_trip.has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_denial_says_how_long_the_holder_has_left_if_the_node_knows)
{
    running_client fixture({.nodes = 9});
    fixture.hold_elsewhere("orders:42", 8200ms, 0, 5);
    fixture.hold_elsewhere("orders:42", forever, 2, 3);
    fixture.node(3).on(verb::holder).never();
    fixture.node(4).on(verb::holder).error("NOPERM");

    const diagnostics report = report_of_one_round(fixture);

    const std::optional<milliseconds> expected[] = {8200ms, 8200ms, forever, {}, {}};
    for (std::size_t index = 0; index < 5; ++index)
    {
        BOOST_TEST_REQUIRE(report.votes[index].vote.has_value());
        BOOST_TEST(*report.votes[index].vote == vote::denied);
        BOOST_TEST(report.votes[index].reason == reason::held);
        BOOST_TEST((report.votes[index].held_for == expected[index]));
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_vote_says_why)
{
    for (const mishap& each : mishaps)
    {
        BOOST_TEST_CONTEXT(each.name)
        {
            running_client fixture;
            fixture.each_node(each.begin);

            const diagnostics report = report_of_one_round(fixture);

            for (std::size_t index = 0; index < 3; ++index)
            {
                const node_vote& said = report.votes[index];
                BOOST_TEST_REQUIRE(said.vote.has_value());
                BOOST_TEST(*said.vote == each.said);
                BOOST_TEST(said.reason == each.why);
                BOOST_TEST(said.text == each.text);
                BOOST_TEST(said.code == each.code);
                if (each.round_trip)
                    BOOST_TEST((said.round_trip == each.round_trip));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_report_is_about_the_last_round)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 300ms, 0, 5);
    diagnostics report;

    const lease held = fixture.acquire("orders:42", {.wait = 5s, .report = &report});

    BOOST_TEST(report.rounds > 1u);
    BOOST_TEST(report.rounds * 5 == fixture.log(verb::acquire).size());
    BOOST_TEST_REQUIRE(report.votes[0].vote.has_value());
    BOOST_TEST(*report.votes[0].vote == vote::granted);
    BOOST_TEST(!report.votes[0].held_for.has_value());
}

BOOST_AUTO_TEST_CASE(a_report_is_there_when_the_operation_was_cancelled)
{
    running_client fixture;
    fixture.node(0).on(verb::acquire).after(10ms);
    fixture.silence(verb::acquire, 1, 5);
    diagnostics report;
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.report = &report}));
    fixture.advance(20ms);

    held->cancel();
    fixture.run_until_idle();

    BOOST_TEST(held->done());
    BOOST_TEST_REQUIRE(report.votes.size() == 5u);
    BOOST_TEST(*report.votes[0].vote == vote::granted);
    BOOST_TEST(!report.votes[1].vote.has_value());
}

BOOST_AUTO_TEST_CASE(without_a_round_the_report_is_empty)
{
    client_fixture fixture;
    diagnostics report;
    report.rounds = 7;

    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders:42", {.wait = 0ms, .report = &report})
    );

    BOOST_TEST(ec == error::not_running);
    BOOST_TEST(report.quorum == 0u);
    BOOST_TEST(report.rounds == 0u);
    BOOST_TEST(report.votes.empty());
}

BOOST_AUTO_TEST_CASE(an_extension_that_is_wrong_is_told_to_the_log)
{
    std::vector<std::string> lines;
    running_client fixture({.lines = &lines});
    lease held = fixture.acquire("orders:42");

    const auto [ec] = fixture.complete(held.async_extend(5ms));

    BOOST_TEST(ec == error::invalid_argument);
    BOOST_TEST_REQUIRE(!lines.empty());
    BOOST_TEST(lines.back() == "extend of 'orders:42': ttl is 5 ms, must be 10 to 86400000 ms");
}

BOOST_AUTO_TEST_CASE(a_client_that_was_never_run_says_so)
{
    std::vector<std::string> lines;
    client_fixture fixture({.lines = &lines});
    diagnostics report;

    const auto held =
        launch(fixture.locks().async_acquire("orders:42", {.wait = 1s, .report = &report}));
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.advance(2s);
    ready->signal.emit(asio::cancellation_type::terminal);
    fixture.run_until_idle();

    BOOST_TEST(held->code() == error::not_running);
    BOOST_TEST(report.problem == "async_run was not called in time");
    BOOST_TEST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[0] == "acquire of 'orders:42': async_run was not called in time");
    BOOST_TEST(lines[1].starts_with(
        "gave up waiting for ready nodes: 0 of 3 needed, async_run was not called, "
    ));
}

BOOST_AUTO_TEST_CASE(who_gives_up_waiting_for_ready_nodes_finds_in_the_log_what_they_lack)
{
    std::vector<std::string> lines;
    client_fixture fixture({.lines = &lines});
    fixture.each_node(0, 3, [](fake_node& node) {
        node.starts(node_state::quarantined, "it may have lost locks");
    });
    fixture.start_client();

    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.advance(1s);
    ready->signal.emit(asio::cancellation_type::terminal);
    fixture.run_until_idle();

    BOOST_TEST(ready->code() == asio::error::operation_aborted);
    BOOST_TEST_REQUIRE(lines.size() == 1u);
    BOOST_TEST(lines[0].starts_with("gave up waiting for ready nodes: 2 of 3 needed, "));
    BOOST_TEST(lines[0].find("quarantined (it may have lost locks)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_denial_says_whether_this_client_is_the_holder)
{
    running_client fixture;
    fixture.hold_elsewhere("theirs", 1h, 0, 5);
    lease mine = fixture.acquire("mine");
    lease owned = fixture.acquire("owned", {.owner = owner(1)});
    const auto held_by_this_client = [&fixture](const char* resource, acquire_options options) {
        diagnostics report;
        options.report = &report;
        const auto [ec, held] = fixture.complete(fixture.locks().async_acquire(resource, options));
        return ec == error::contended && report.held_by_this_client;
    };

    for (const milliseconds wait : {0ms, 500ms})
    {
        BOOST_TEST(!held_by_this_client("theirs", {.wait = wait}));
        BOOST_TEST(held_by_this_client("mine", {.wait = wait}));
        BOOST_TEST(held_by_this_client("owned", {.wait = wait}));
        BOOST_TEST(held_by_this_client("owned", {.wait = wait, .owner = owner(2)}));
    }
    diagnostics report;
    BOOST_TEST(!fixture.acquire("owned", {.owner = owner(1), .report = &report}).expired());
    BOOST_TEST(!report.held_by_this_client);

    mine.abandon();
    fixture.run_until_idle();
    BOOST_TEST(!held_by_this_client("mine", {.wait = 0ms}));  // The keys are still there.
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_says_whether_this_client_is_the_holder)
{
    running_client fixture;
    const lease mine = fixture.acquire("mine");
    diagnostics report;
    const auto first = launch(fixture.locks().async_acquire("mine", {.report = &report}));
    diagnostics behind;
    const auto second = launch(fixture.locks().async_acquire("mine", {.report = &behind}));
    fixture.advance(100ms);

    first->cancel();
    second->cancel();
    fixture.advance(100ms);

    BOOST_TEST(first->code() == asio::error::operation_aborted);
    BOOST_TEST(report.held_by_this_client);
    BOOST_TEST(second->code() == asio::error::operation_aborted);
    BOOST_TEST(behind.held_by_this_client);
}

BOOST_AUTO_TEST_CASE(late_answers_do_not_touch_the_report)
{
    running_client fixture;
    fixture.each_node(3, 5, [](fake_node& node) { node.on(verb::acquire).after(20ms); });

    diagnostics report;
    const auto [ec, held] =
        fixture.complete(fixture.locks().async_try_acquire("orders:42", {.report = &report}));
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(report.votes.size() == 5u);
    BOOST_TEST(!report.votes[3].vote.has_value());
}

BOOST_AUTO_TEST_CASE(a_report_prints_as_one_line)
{
    running_client fixture;
    fixture.node(0).on(verb::acquire).after(2ms);
    fixture.hold_elsewhere("orders:42", 8200ms, 1, 2);
    fixture.node(2).on(verb::acquire).error("READONLY You can't write against a replica.");
    fixture.node(3).on(verb::acquire).never();
    fixture.node(4).on(verb::acquire).after(2ms).never();

    const diagnostics report = report_of_one_round(fixture);

    const std::string line = to_string(report);
    BOOST_TEST_INFO(line);
    BOOST_TEST(line.starts_with("need 3 of 5: node0 granted"));
    BOOST_TEST(line.find("node1 held 8.2s left") != std::string::npos);
    BOOST_TEST(line.find("refused: READONLY You can't write") != std::string::npos);
    BOOST_TEST(line.find("node3 timeout") != std::string::npos);
    BOOST_TEST(line.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
