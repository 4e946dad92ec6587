#include <boost/test/unit_test.hpp>

#include <chrono>
#include <vector>

#include "support/fixture.hpp"
#include "support/guarded_client.hpp"

BOOST_AUTO_TEST_SUITE(test_guarded)

/// What guarded mode adds to acquiring, extending and releasing.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

using node_list = std::vector<std::size_t>;

/// Rounds that were made since the log was last cleared.
std::size_t rounds(const client_fixture& fixture, verb what = verb::acquire)
{
    return fixture.sent_to(what).size() / fixture.node_count();
}

constexpr acquire_options one_round{.wait = 0ms};

BOOST_AUTO_TEST_CASE(a_lease_has_a_token_of_the_time_in_one_round)
{
    guarded_client fixture;
    const lease held = fixture.acquire("orders:42", one_round);

    BOOST_TEST(rounds(fixture) == 1u);
    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    BOOST_TEST(held.fence().value() == now);
}

BOOST_AUTO_TEST_CASE(plain_mode_and_an_empty_lease_have_no_token)
{
    running_client plain;
    BOOST_TEST(!plain.acquire("orders:42").fence());
    BOOST_TEST(!lease().fence());
}

BOOST_AUTO_TEST_CASE(tokens_increase_from_lease_to_lease_while_no_time_passes)
{
    guarded_client fixture;
    fencing_token last;
    for (int i = 0; i < 100; ++i)
    {
        lease held = fixture.acquire("orders:42", one_round);
        BOOST_TEST((held.fence() > last));
        last = held.fence();
        fixture.complete(held.async_release());
    }
    BOOST_TEST(rounds(fixture) == 100u);
}

BOOST_AUTO_TEST_CASE(a_token_stays_when_the_lease_is_extended_and_over)
{
    guarded_client fixture;
    lease held = fixture.acquire("orders:42", one_round);
    const fencing_token token = held.fence();
    fixture.advance(1s);
    fixture.complete(held.async_extend(20s));
    BOOST_TEST((held.fence() == token));
    fixture.complete(held.async_release());
    BOOST_TEST((held.fence() == token));
}

BOOST_AUTO_TEST_CASE(a_client_whose_clock_is_off_needs_a_second_round_once)
{
    for (const std::chrono::microseconds offset : {10min + 0us, -10min + 0us, 87'600h + 0us})
    {
        guarded_client fixture;
        fixture.time().set_wall_offset(offset);
        (void)fixture.acquire("orders:1", one_round);
        BOOST_TEST(rounds(fixture) == 2u);
        for (const char* resource : {"orders:2", "orders:3"})
        {
            fixture.log().clear();
            (void)fixture.acquire(resource, one_round);
            BOOST_TEST(rounds(fixture) == 1u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_slow_round_does_not_put_a_right_clock_wrong)
{
    guarded_client fixture;
    (void)fixture.acquire("orders:1", one_round);  // Quickly.
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(40ms).once(); });
    BOOST_TEST(fixture.acquire_with(one_round) == error::contended);

    const lease held = fixture.acquire("orders:2", one_round);

    const std::chrono::microseconds now(static_cast<std::int64_t>(held.fence().value()));
    BOOST_TEST(
        (now - testing::beginning_of_time).count() ==
        std::chrono::duration_cast<std::chrono::microseconds>(fixture.time().elapsed()).count()
    );
}

BOOST_AUTO_TEST_CASE(a_client_whose_clock_is_off_learns_the_time_though_nodes_are_away)
{
    guarded_client fixture;
    fixture.each_node(0, 2, [](fake_node& node) {
        node.becomes(node_state::down, "it is down", asio::error::connection_refused);
    });
    fixture.run_until_idle();
    fixture.time().set_wall_offset(10min);

    (void)fixture.acquire("orders:42", one_round);

    BOOST_TEST(fixture.sent_to(verb::acquire).size() == 2 * 3u);
}

BOOST_AUTO_TEST_CASE(a_client_whose_clock_half_of_the_nodes_refuse_learns_the_time)
{
    for (const std::size_t nodes : {2U, 4U})
    {
        guarded_client fixture(nodes);
        fixture.each_node(nodes / 2, nodes, [](fake_node& node) {
            node.guard().clock_offset = 10ms;
        });
        fixture.time().set_wall_offset(-495ms);

        (void)fixture.acquire("orders:42", one_round);

        BOOST_TEST(rounds(fixture) == 2u);
    }
}

BOOST_AUTO_TEST_CASE(it_learns_the_time_though_the_nodes_answer_one_after_the_other)
{
    for (const std::size_t nodes : {3U, 5U})
    {
        guarded_client fixture(nodes);
        fixture.node(0).becomes(node_state::down, "it is down", asio::error::connection_refused);
        fixture.run_until_idle();
        fixture.time().set_wall_offset(10min);
        for (std::size_t index = 1; index < nodes; ++index)
        {
            for (int round = 0; round < 3; ++round)
                fixture.node(index).on(verb::acquire).runs_after(milliseconds(index)).times(1);
        }

        (void)fixture.acquire("orders:42", one_round);

        BOOST_TEST(fixture.sent_to(verb::acquire).size() == 2 * (nodes - 1));
    }
}

BOOST_AUTO_TEST_CASE(it_learns_the_time_of_nodes_that_answer_after_the_round_is_lost)
{
    guarded_client fixture(5);
    for (std::size_t index = 0; index < 5; ++index)
    {
        fixture.node(index).guard().clock_offset = index * 25ms;
        fixture.node(index).on(verb::acquire).runs_after(index < 3 ? 0ms : 1ms).once();
    }
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    BOOST_TEST(fixture.acquire_with(one_round) == error::contended);
    fixture.advance(5ms);

    const lease held = fixture.acquire("orders:2", one_round);

    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    const std::uint64_t ahead = held.fence().value() - now;
    BOOST_TEST(ahead > 45'000u);
    BOOST_TEST(ahead < 51'000u);
}

BOOST_AUTO_TEST_CASE(nodes_whose_clocks_are_ahead_in_turn_get_no_fences_from_the_future)
{
    guarded_client fixture;
    for (std::size_t ahead = 0; ahead < 3; ++ahead)
    {
        // Of the others, two are away and two are silent.
        const std::size_t silent = ahead + 1;
        fixture.node(ahead).guard().clock_offset = 1h;
        fixture.each_node(silent, silent + 2, [](fake_node& node) {
            node.on(verb::acquire).never();
        });
        for (const std::size_t away : {(ahead + 3) % 5, (ahead + 4) % 5})
            fixture.node(away).becomes(
                node_state::down, "it is down", asio::error::connection_refused
            );
        fixture.run_until_idle();
        for (int tries = 0; tries < 3; ++tries)
        {
            const auto [ec, none] =
                fixture.complete(fixture.locks().async_try_acquire("orders:42", 10s));
            BOOST_TEST(ec == condition::nodes_unavailable);
        }
        fixture.node(ahead).guard().clock_offset = 0s;
        fixture.each_node([](fake_node& node) {
            node.be_honest();
            if (node.status().state != node_state::ready)
                node.becomes(node_state::ready);
        });
        fixture.run_until_idle();
    }

    (void)fixture.acquire("orders:42", {.wait = 5s});
}

BOOST_AUTO_TEST_CASE(a_client_does_not_follow_one_clock_after_the_other)
{
    guarded_client fixture(3);
    fixture.node(0).becomes(node_state::down, "it is down", asio::error::connection_refused);
    fixture.node(2).guard().clock_offset = 1h;
    fixture.run_until_idle();

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.ttl = 10s, .wait = 5s}));

    BOOST_TEST(ec == error::node_rejected);
    // It pauses between two rounds.
    BOOST_TEST(fixture.sent_to(verb::acquire).size() < 2 * 165u);
}

BOOST_AUTO_TEST_CASE(a_higher_fence_costs_one_more_round_without_waiting)
{
    guarded_client fixture;
    const auto higher = static_cast<std::uint64_t>(fixture.time().wall().count()) + 400'000;
    fixture.each_node([&](fake_node& node) { node.guard().fences["orders:42"] = higher; });

    const lease held = fixture.acquire("orders:42", one_round);

    BOOST_TEST((held.fence() > fencing_token::from_value(higher)));
    BOOST_TEST(rounds(fixture) == 2u);
    BOOST_TEST(fixture.time().elapsed() == 0ms);
}

// X2: the first round's grants and the second round's must not add up to a quorum.
BOOST_AUTO_TEST_CASE(grants_of_different_tokens_make_no_quorum)
{
    guarded_client fixture(3);
    const auto higher = static_cast<std::uint64_t>(fixture.time().wall().count()) + 400'000;
    fixture.node(1).guard().fences["orders:42"] = higher;
    fixture.node(2).on(verb::acquire).never();
    // Node 0 grants the first token, and does not hear of the second.
    fixture.node(0).on(verb::acquire).times(1);
    fixture.node(0).on(verb::acquire).never();

    const auto [ec, held] = fixture.complete(fixture.locks().async_acquire("orders:42", one_round));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(!held);
}

BOOST_AUTO_TEST_CASE(a_single_try_is_corrected_once_and_not_for_ever)
{
    guarded_client fixture(3);
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).reply(vote::refused, reason::fence);
    });
    const auto [ec, held] = fixture.complete(fixture.locks().async_try_acquire("orders:42", 10s));
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(rounds(fixture) == 2u);
}

BOOST_AUTO_TEST_CASE(a_holder_may_ask_for_a_token_above_what_the_resource_has_seen)
{
    guarded_client fixture;
    const auto seen = fencing_token::from_value(
        static_cast<std::uint64_t>(fixture.time().wall().count()) + 400'000
    );
    const lease held = fixture.acquire("orders:42", {.wait = 0ms, .fence_at_least = seen});
    BOOST_TEST((held.fence() > seen));
    BOOST_TEST(rounds(fixture) == 1u);
}

// X7: tokens from the future would make everybody else pay for ever.
BOOST_AUTO_TEST_CASE(a_demand_for_a_token_from_the_future_is_refused_and_poisons_nothing)
{
    guarded_client fixture;
    const auto future = fencing_token::from_value(std::uint64_t{1} << 52);
    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders:42", {.wait = 0ms, .fence_at_least = future})
    );
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(rounds(fixture) == 2u);
    BOOST_TEST(fixture.keys_left() == 0u);
    fixture.log().clear();
    const lease next = fixture.acquire("orders:42", one_round);
    BOOST_TEST(rounds(fixture) == 1u);
    BOOST_TEST((next.fence() < future));
}

// X4: a SET that arrives after its release, on another connection.
BOOST_AUTO_TEST_CASE(a_release_leaves_a_tombstone_on_every_node_that_may_have_the_attempt)
{
    guarded_client fixture(3);
    fixture.node(2).on(verb::acquire).never();
    lease held = fixture.acquire("orders:42", one_round);
    const std::uint64_t token = held.fence().value();
    fixture.complete(held.async_release());
    fixture.advance(1s);
    fixture.each_node([token](fake_node& node) {
        BOOST_TEST(node.guard().fences["orders:42"] == token);
    });
}

BOOST_AUTO_TEST_CASE(a_node_that_said_no_is_not_asked_to_release)
{
    guarded_client fixture;
    fixture.hold_elsewhere("orders:42", 5s, 0, 2);
    lease held = fixture.acquire("orders:42", one_round);
    fixture.complete(held.async_release());
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{2, 3, 4}));
}

// It is unknown who sent the error, and what became of the command behind it.
BOOST_AUTO_TEST_CASE(a_node_that_answered_with_an_error_is_asked_to_release)
{
    guarded_client fixture(3);
    fixture.node(2).on(verb::acquire).error("ERR upstream failure");
    lease held = fixture.acquire("orders:42", one_round);
    const std::uint64_t token = held.fence().value();

    fixture.complete(held.async_release());

    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2}));
    BOOST_TEST(fixture.node(2).guard().fences["orders:42"] == token);
}

BOOST_AUTO_TEST_CASE(a_node_that_did_not_answer_in_time_is_asked_to_undo)
{
    guarded_client fixture(3);
    fixture.each_node(1, 3, [](fake_node& node) { node.on(verb::acquire).loses_answer(); });

    const auto [ec, held] = fixture.complete(fixture.locks().async_try_acquire("orders:42", 10s));
    fixture.run_until_idle();

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0}));
    BOOST_TEST(fixture.sent_to(verb::undo) == (node_list{1, 2}));
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_denial_tells_how_long_the_holder_has_left_without_asking)
{
    guarded_client fixture;
    fixture.hold_elsewhere("orders:42", 700ms, 0, 5);
    diagnostics report;
    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders:42", {.wait = 0ms, .report = &report})
    );
    BOOST_TEST(ec == error::contended);
    BOOST_TEST(report.votes.front().held_for.value() == 700ms);
    BOOST_TEST(fixture.sent_to(verb::holder) == node_list());
}

BOOST_AUTO_TEST_CASE(a_majority_in_quarantine_is_an_error_of_its_own_with_the_time_left)
{
    guarded_client fixture;
    fixture.each_node(0, 3, [](fake_node& node) { node.guard().quarantined_until = 3s; });
    diagnostics report;
    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders:42", {.wait = 0ms, .report = &report})
    );
    BOOST_TEST(ec == error::quarantined);
    BOOST_TEST(ec == condition::nodes_unavailable);
    BOOST_TEST(report.votes.front().reason == reason::quarantined);
    BOOST_TEST(report.votes.front().ready_in.value() == 3s);
}

BOOST_AUTO_TEST_CASE(whoever_waits_gets_the_resource_when_the_quarantine_is_over)
{
    guarded_client fixture;
    fixture.each_node([](fake_node& node) { node.guard().quarantined_until = 3s; });
    const lease held = fixture.acquire("orders:42", {.wait = 10s});
    BOOST_TEST(static_cast<bool>(held));
    BOOST_TEST(fixture.time().elapsed() >= 3s);
}

BOOST_AUTO_TEST_CASE(a_minority_in_quarantine_is_not_noticed)
{
    guarded_client fixture;
    fixture.each_node(0, 2, [](fake_node& node) { node.guard().quarantined_until = 1h; });
    lease held = fixture.acquire("orders:42", one_round);
    BOOST_TEST(rounds(fixture) == 1u);
    const auto [ec] = fixture.complete(held.async_extend(20s));
    BOOST_TEST(ec == error_code());
}

BOOST_AUTO_TEST_CASE(a_node_whose_clock_stepped_does_not_vote)
{
    guarded_client fixture(3);
    fixture.node(0).guard().clock_offset = 1h;
    fixture.hold_elsewhere("orders:42", 5s, 1, 2);
    diagnostics report;
    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders:42", {.wait = 0ms, .report = &report})
    );
    BOOST_TEST(ec == error::contended);
    BOOST_TEST(report.votes[0].reason == reason::clock);
    BOOST_TEST((report.votes[0].clock_ahead.value() > 59min));
}

BOOST_AUTO_TEST_CASE(an_extension_of_a_client_whose_clock_stepped_is_corrected_once)
{
    guarded_client fixture;
    lease held = fixture.acquire("orders:42", one_round);
    fixture.time().set_wall_offset(-1h);

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(rounds(fixture, verb::extend) == 2u);
}

BOOST_AUTO_TEST_CASE(an_extension_that_quarantines_hold_up_leaves_the_lease_as_it_was)
{
    guarded_client fixture;
    lease held = fixture.acquire("orders:42", one_round);
    const time_point before = held.valid_until();
    fixture.each_node([](fake_node& node) { node.guard().quarantined_until = 1h; });

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::quarantined);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(a_round_that_no_better_token_can_win_is_not_repeated)
{
    guarded_client fixture;
    fixture.hold_elsewhere("orders:42", 5s, 0, 3);
    fixture.each_node(3, 5, [](fake_node& node) { node.guard().clock_offset = 1h; });

    const auto [ec, held] = fixture.complete(fixture.locks().async_acquire("orders:42", one_round));

    BOOST_TEST(ec == error::contended);
    BOOST_TEST(rounds(fixture) == 1u);
}

BOOST_AUTO_TEST_CASE(an_extension_that_no_better_time_can_save_is_not_repeated)
{
    guarded_client fixture;
    lease held = fixture.acquire("orders:42", one_round);
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });
    fixture.each_node(3, 5, [](fake_node& node) { node.guard().clock_offset = 1h; });

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(rounds(fixture, verb::extend) == 1u);
}

// A higher token would be granted by nodes 0 and 1. Above the fence of node 2 none would.
BOOST_AUTO_TEST_CASE(a_corrected_round_does_not_follow_a_fence_from_the_future)
{
    guarded_client fixture(3);
    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    fixture.node(1).guard().fences["orders:42"] = now + 400'000;
    fixture.node(2).guard().fences["orders:42"] = now + 3'600'000'000;

    const lease held = fixture.acquire("orders:42", one_round);

    BOOST_TEST(held.fence().value() == now + 400'001);
    BOOST_TEST(rounds(fixture) == 2u);
}

BOOST_AUTO_TEST_CASE(a_minority_of_the_clocks_is_not_believed)
{
    guarded_client fixture;
    fixture.each_node(0, 2, [](fake_node& node) { node.guard().clock_offset = 1h; });
    fixture.silence(verb::acquire, 2, 5);
    const auto [ec, none] = fixture.complete(fixture.locks().async_acquire("orders:1", one_round));
    BOOST_TEST_REQUIRE(ec == condition::nodes_unavailable);
    fixture.be_honest();
    fixture.log().clear();

    const lease held = fixture.acquire("orders:42", one_round);

    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    BOOST_TEST(held.fence().value() - now < 1'000'000u);  // And not an hour.
    BOOST_TEST(rounds(fixture) == 1u);
}

// A node whose clock was ahead for a while has left a fence that no other node lets through.
BOOST_AUTO_TEST_CASE(a_fence_from_the_future_on_one_node_does_not_keep_waiters_out)
{
    guarded_client fixture(3);
    const auto future = static_cast<std::uint64_t>(fixture.time().wall().count()) + 3'600'000'000;
    fixture.node(2).guard().fences["orders:42"] = future;
    fixture.hold_elsewhere("orders:42", 2s, 0, 2);

    const lease held = fixture.acquire("orders:42", {.wait = 10s});

    BOOST_TEST((held.fence() < fencing_token::from_value(future)));
    BOOST_TEST(fixture.time().elapsed() < 3s);
}

BOOST_AUTO_TEST_CASE(an_extension_above_ttl_max_is_refused)
{
    guarded_client fixture;
    lease held = fixture.acquire("redlock", {.ttl = 30'000ms});
    BOOST_TEST(fixture.code_of(held.async_extend(30'001ms)) == error::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
