#include <redlock/diagnostics.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
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

BOOST_AUTO_TEST_CASE(a_denial_says_how_long_the_holder_has_left)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 8200ms, 0, 2);
    fixture.hold_elsewhere("orders:42", forever, 2, 3);

    const diagnostics report = report_of_one_round(fixture);

    for (std::size_t index = 0; index < 3; ++index)
    {
        BOOST_TEST_REQUIRE(report.votes[index].vote.has_value());
        BOOST_TEST(*report.votes[index].vote == vote::denied);
        BOOST_TEST(report.votes[index].reason == reason::held);
        BOOST_TEST_REQUIRE(report.votes[index].held_for.has_value());
        BOOST_TEST(*report.votes[index].held_for == (index < 2 ? 8200ms : forever));
    }
}

BOOST_AUTO_TEST_CASE(a_holder_that_is_not_known_leaves_the_rest_empty)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 8200ms, 0, 3);
    fixture.node(0).on(verb::holder).never();
    fixture.node(1).on(verb::holder).error("NOPERM");

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST(report.votes[0].reason == reason::held);
    BOOST_TEST(!report.votes[0].held_for.has_value());
    BOOST_TEST(!report.votes[1].held_for.has_value());
    BOOST_TEST(report.votes[2].held_for.has_value());
}

BOOST_AUTO_TEST_CASE(silence_is_a_timeout)
{
    running_client fixture;
    fixture.silence(verb::acquire);

    const diagnostics report = report_of_one_round(fixture);

    for (std::size_t index = 0; index < 3; ++index)
    {
        BOOST_TEST_REQUIRE(report.votes[index].vote.has_value());
        BOOST_TEST(*report.votes[index].vote == vote::unknown);
        BOOST_TEST(report.votes[index].reason == reason::timeout);
        BOOST_TEST_REQUIRE(report.votes[index].round_trip.has_value());
        BOOST_TEST(*report.votes[index].round_trip == 50ms);
    }
}

BOOST_AUTO_TEST_CASE(an_error_reply_is_told_in_the_words_of_the_server)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).error("MISCONF Errors writing to the AOF file");
    });

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST_REQUIRE(report.votes[0].vote.has_value());
    BOOST_TEST(*report.votes[0].vote == vote::refused);
    BOOST_TEST(report.votes[0].reason == reason::error_reply);
    BOOST_TEST(report.votes[0].text == "MISCONF Errors writing to the AOF file");
}

BOOST_AUTO_TEST_CASE(a_node_that_is_down_says_why)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) {
        node.becomes(node_state::down, "refused", asio::error::connection_refused);
    });

    const diagnostics report = report_of_one_round(fixture);

    for (const node_vote& each : report.votes)
    {
        BOOST_TEST_REQUIRE(each.vote.has_value());
        BOOST_TEST(*each.vote == vote::unknown);
        BOOST_TEST(each.reason == reason::down);
        BOOST_TEST(each.code == asio::error::connection_refused);
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_was_rejected_says_why)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) {
        node.becomes(node_state::rejected, "WRONGPASS invalid username-password pair");
    });

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST_REQUIRE(report.votes[4].vote.has_value());
    BOOST_TEST(*report.votes[4].vote == vote::refused);
    BOOST_TEST(report.votes[4].reason == reason::rejected);
    BOOST_TEST(report.votes[4].text == "WRONGPASS invalid username-password pair");
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_says_why)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).breaks_connection(1s); });

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST_REQUIRE(report.votes[0].vote.has_value());
    BOOST_TEST(*report.votes[0].vote == vote::unknown);
    BOOST_TEST(report.votes[0].reason == reason::connection_lost);
    BOOST_TEST(report.votes[0].code == asio::error::connection_reset);
}

BOOST_AUTO_TEST_CASE(a_node_that_takes_no_question_says_why)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).absent(reason::overloaded); });

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST_REQUIRE(report.votes[0].vote.has_value());
    BOOST_TEST(*report.votes[0].vote == vote::unknown);
    BOOST_TEST(report.votes[0].reason == reason::overloaded);
}

BOOST_AUTO_TEST_CASE(an_answer_of_the_wrong_shape_is_unexpected)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).reply(vote::unknown, reason::unexpected_reply);
    });

    const diagnostics report = report_of_one_round(fixture);

    BOOST_TEST(report.votes[0].reason == reason::unexpected_reply);
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
