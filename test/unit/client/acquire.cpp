#include "core/validity.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_acquire)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

using node_list = std::vector<std::size_t>;

constexpr milliseconds day = 24h;

/// The deadline of a lease whose round started at `start`, by the definition.
time_point deadline(time_point start, milliseconds ttl, double rate = 0.01)
{
    return start + ttl - core::clock_drift(ttl, rate);
}

/// When the rounds of an operation started.
std::vector<nanoseconds> round_starts(const client_fixture& fixture)
{
    std::vector<nanoseconds> starts;
    for (const asked_question& each : fixture.log(verb::acquire))
    {
        if (each.node == 0)
            starts.push_back(each.at);
    }
    return starts;
}

std::vector<std::string> ids(const journal& of)
{
    std::vector<std::string> result;
    for (const asked_question& each : of)
        result.push_back(each.id);
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_quorum_grants_without_waiting_for_the_other_nodes)
{
    running_client fixture;
    fixture.node(1).on(verb::acquire).never();
    fixture.node(3).on(verb::acquire).after(40ms);

    const auto held = launch(fixture.locks().async_acquire("orders:42", 10s));
    fixture.run_until_idle();

    BOOST_TEST(held->completions == 1u);
    BOOST_TEST(held->code() == error_code());
    BOOST_TEST(static_cast<bool>(held->value()));
}

BOOST_AUTO_TEST_CASE(exactly_a_quorum_of_grants_is_a_lease_and_one_less_is_none)
{
    for (const std::size_t nodes : {1u, 2u, 3u, 4u, 5u, 15u})
    {
        for (const std::size_t grants : {nodes / 2, nodes / 2 + 1})
        {
            BOOST_TEST_CONTEXT(grants << " of " << nodes << " nodes")
            {
                running_client fixture({.nodes = nodes});
                fixture.hold_elsewhere("orders:42", day, grants, nodes);

                const auto [ec, held] =
                    fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));

                const bool is_quorum = grants > nodes / 2;
                BOOST_TEST((ec == error_code()) == is_quorum);
                BOOST_TEST((ec == error::contended) == !is_quorum);
                BOOST_TEST(held.expired() == !is_quorum);
                BOOST_TEST(static_cast<bool>(held) == is_quorum);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_name_is_enough_and_the_rest_are_the_defaults)
{
    running_client fixture;
    const auto held = launch(fixture.locks().async_acquire("orders:42"));
    const auto tried = launch(fixture.locks().async_try_acquire("orders:43"));
    error_code called_back = error::not_running;
    fixture.locks().async_acquire("orders:44", [&](error_code ec, lease) { called_back = ec; });
    fixture.run_until_idle();

    BOOST_TEST(static_cast<bool>(held->value()));
    BOOST_TEST(static_cast<bool>(tried->value()));
    BOOST_TEST(called_back == error_code());
    for (const asked_question& each : fixture.log(verb::acquire))
        BOOST_TEST(each.ttl == acquire_options().ttl);
}

BOOST_AUTO_TEST_CASE(all_nodes_are_asked_the_same_question)
{
    running_client fixture({.key_prefix = "app:"});

    const lease held = fixture.acquire(std::string_view("a\0b", 3), {.ttl = 7s});

    BOOST_TEST(held.resource() == std::string_view("a\0b", 3));
    const std::string id = fixture.log().front().id;
    BOOST_TEST(id.size() == 40u);
    BOOST_TEST(id.find_first_not_of("0123456789abcdef") == std::string::npos);
    BOOST_TEST(fixture.sent_to(verb::acquire) == (node_list{0, 1, 2, 3, 4}));
    for (const asked_question& each : fixture.log())
    {
        BOOST_TEST((each.what == verb::acquire));
        BOOST_TEST(each.key == std::string("app:a\0b", 7));
        BOOST_TEST(each.id == id);
        BOOST_TEST(each.ttl == 7s);
    }
}

BOOST_AUTO_TEST_CASE(every_round_has_a_fresh_id)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 3);

    fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 1s}));

    const auto all = ids(fixture.log(verb::acquire));
    const std::set<std::string> different(all.begin(), all.end());
    BOOST_TEST(different.size() > 3u);
    BOOST_TEST(different.size() * 5 == all.size());
}

BOOST_AUTO_TEST_CASE(validity_counts_from_before_the_first_send)
{
    const std::pair<double, milliseconds> drifts[] = {{0.01, 9897ms}, {0.5, 4997ms}};
    for (const auto& [drift, left] : drifts)
    {
        running_client fixture({.clock_drift = drift});
        const time_point start = fixture.time().now().steady;

        const lease held = fixture.acquire("orders:42", {.ttl = 10s});

        BOOST_TEST(held.valid_until() == deadline(start, 10s, drift));
        BOOST_TEST(held.remaining() == left);
    }
}

BOOST_AUTO_TEST_CASE(slow_answers_shorten_what_is_left_and_not_the_deadline)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(30ms); });
    const time_point start = fixture.time().now().steady;

    const lease held = fixture.acquire("orders:42", {.ttl = 10s});

    BOOST_TEST(fixture.time().now().steady == start + 30ms);
    BOOST_TEST(held.valid_until() == deadline(start, 10s));
    BOOST_TEST(held.remaining() == 9867ms);
}

BOOST_AUTO_TEST_CASE(validity_counts_from_the_start_of_the_round_that_granted)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 300ms, 0, 5);
    const time_point start = fixture.time().now().steady;

    const lease held = fixture.acquire("orders:42", {.ttl = 10s});

    const nanoseconds last_round = round_starts(fixture).back();
    BOOST_TEST(last_round >= 300ms);
    BOOST_TEST(held.valid_until() == deadline(start + last_round, 10s));
}

BOOST_AUTO_TEST_CASE(a_quorum_that_answers_after_the_deadline_is_too_late)
{
    running_client fixture({.clock_drift = 0.5});
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(30ms); });

    // Half of 60 ms and 2 ms more are drift: 28 ms are left.
    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.ttl = 60ms, .wait = 0ms}));
    fixture.advance(100ms);

    BOOST_TEST(ec == error::validity_exhausted);
    BOOST_TEST(!held);
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_quorum_at_the_deadline_is_too_late_and_just_before_it_is_not)
{
    for (const nanoseconds before : {nanoseconds(1), nanoseconds(0), nanoseconds(-1s)})
    {
        BOOST_TEST_CONTEXT(before.count() << " ns before the deadline")
        {
            running_client fixture;
            fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(20ms); });
            const time_point start = fixture.time().now().steady;
            const auto held =
                launch(fixture.locks().async_acquire("orders:42", {.ttl = 1s, .wait = 0ms}));
            fixture.run_until_idle();

            // The process is stopped. The answers are there when it goes on, and so is the timer.
            fixture.time().advance(deadline(start, 1s) - before - start);
            fixture.run_until_idle();

            const bool in_time = before > 0ns;
            BOOST_TEST_REQUIRE(held->done());
            BOOST_TEST((held->code() == error_code()) == in_time);
            BOOST_TEST((held->code() == error::validity_exhausted) == !in_time);
            BOOST_TEST(static_cast<bool>(held->value()) == in_time);
            BOOST_TEST(fixture.keys_left() == (in_time ? 5u : 0u));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_that_only_the_boot_clock_has_passed_is_too_late)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(20ms); });
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.ttl = 10s, .wait = 0ms}));
    fixture.run_until_idle();

    fixture.time().jump(manual_time::clock::boot, 10s);  // The machine was suspended.
    fixture.advance(20ms);

    BOOST_TEST(held->code() == error::validity_exhausted);
    BOOST_TEST(!held->value());
}

BOOST_AUTO_TEST_CASE(a_quorum_that_came_too_late_is_tried_again)
{
    running_client fixture({.clock_drift = 0.5});
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(30ms).once(); });

    const lease held = fixture.acquire("orders:42", {.ttl = 60ms, .wait = 1s});

    BOOST_TEST(!held.expired());
    BOOST_TEST(round_starts(fixture).size() == 2u);
}

BOOST_AUTO_TEST_CASE(delays_between_rounds_are_random_and_grow_to_the_cap)
{
    running_client fixture({.retry = {.first_delay = 10ms, .max_delay = 200ms}});
    fixture.hold_elsewhere("orders:42", day, 0, 5);

    fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 10s}));

    const auto starts = round_starts(fixture);
    BOOST_TEST_REQUIRE(starts.size() > 20u);
    std::set<nanoseconds> different;
    nanoseconds bound = 10ms;
    for (std::size_t round = 1; round < starts.size(); ++round)
    {
        const nanoseconds delay = starts[round] - starts[round - 1];
        BOOST_TEST(delay > 0ns);
        BOOST_TEST(delay <= bound);
        different.insert(delay);
        bound = std::min<nanoseconds>(2 * bound, 200ms);
    }
    BOOST_TEST(different.size() > 10u);
    BOOST_TEST(*different.rbegin() > 20ms);
}

BOOST_AUTO_TEST_CASE(the_first_delay_follows_the_measured_duration_of_a_round)
{
    running_client fixture({.retry = {.max_delay = 60'000ms}});
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).after(20ms);
        node.on(verb::holder).reply(vote::refused);
    });
    for (int warm_up = 0; warm_up < 3; ++warm_up)
        (void)fixture.acquire("warm-up");
    fixture.hold_elsewhere("orders:42", day, 0, 5);

    std::set<bool> longer_than_a_round;
    for (int sample = 0; sample < 20; ++sample)
    {
        fixture.log().clear();
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 101ms}));
        const auto starts = round_starts(fixture);
        BOOST_TEST_REQUIRE(starts.size() >= 2u);
        BOOST_TEST(starts[1] - starts[0] <= 100ms);  // A round of 20 ms and a delay of 80 ms.
        longer_than_a_round.insert(starts[1] - starts[0] > 40ms);
    }
    BOOST_TEST(longer_than_a_round.contains(true));
}

BOOST_AUTO_TEST_CASE(waiting_ends_with_the_wait)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 700ms}));

    BOOST_TEST(ec == error::contended);
    BOOST_TEST(!held);
    BOOST_TEST(fixture.time().elapsed() <= 700ms);
    BOOST_TEST(fixture.time().elapsed() >= 500ms);  // One delay less.
}

BOOST_AUTO_TEST_CASE(what_the_holders_have_left_bounds_the_delay)
{
    for (int sample = 0; sample < 10; ++sample)
    {
        running_client fixture({.retry = {.first_delay = 1000ms, .max_delay = 1000ms}});
        fixture.hold_elsewhere("orders:42", 20ms, 0, 5);

        const lease held = fixture.acquire("orders:42", {.wait = 5s});

        // 20 ms, 2 ms for the precision of an expiry, and an eighth of the delay as jitter.
        BOOST_TEST(fixture.time().elapsed() <= 22ms + 125ms);
    }
}

BOOST_AUTO_TEST_CASE(only_nodes_that_denied_are_asked_what_the_holder_has_left)
{
    running_client fixture;
    fixture.node(0).on(verb::acquire).never();
    fixture.hold_elsewhere("orders:42", 300ms, 1, 4);

    const lease held = fixture.acquire("orders:42", {.wait = 5s});

    const auto questions = fixture.log(verb::holder);
    BOOST_TEST_REQUIRE(questions.size() >= 3u);
    for (const asked_question& each : questions)
    {
        BOOST_TEST((each.node >= 1u && each.node <= 3u));
        BOOST_TEST(each.key == "orders:42");
    }
}

BOOST_AUTO_TEST_CASE(holders_that_do_not_say_what_is_left_do_not_stop_the_retries)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 300ms, 0, 5);
    fixture.silence(verb::holder);

    const lease held = fixture.acquire("orders:42", {.wait = 5s});

    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(a_holder_without_a_ttl_does_not_stop_the_retries)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", forever, 0, 5);
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 5s}));
    fixture.advance(1s);

    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });
    fixture.advance(1s);

    BOOST_TEST(held->done());
    BOOST_TEST(held->code() == error_code());
}

BOOST_AUTO_TEST_CASE(without_wait_there_is_one_round)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);

    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.run_until_idle();

    BOOST_TEST(held->code() == error::contended);
    BOOST_TEST(fixture.log(verb::acquire).size() == 5u);
    BOOST_TEST(fixture.log(verb::holder).empty());
}

BOOST_AUTO_TEST_CASE(a_held_resource_is_tried_again_until_it_is_free)
{
    const std::pair<milliseconds, milliseconds> waits[] = {{700ms, 5s}, {60s, forever}};
    for (const auto& [held_for, wait] : waits)
    {
        BOOST_TEST_CONTEXT("held for " << held_for.count() << " ms")
        {
            running_client fixture;
            fixture.hold_elsewhere("orders:42", held_for, 0, 5);

            const auto held = launch(
                fixture.locks().async_acquire("orders:42", {.wait = wait, .hold_max = forever})
            );
            fixture.advance(held_for - 1ms);
            BOOST_TEST(!held->done());
            fixture.advance(1s);

            BOOST_TEST_REQUIRE(held->done());
            BOOST_TEST(held->code() == error_code());
            BOOST_TEST(!held->value().expired());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_rules_out_a_quorum_is_the_cause)
{
    struct row
    {
        std::size_t denied;
        std::size_t refused;
        std::size_t failed;
        error_code cause;
        std::size_t down = 0;
    };
    const std::array table{
        row{3, 0, 0, error::contended},
        row{5, 0, 0, error::contended},
        row{1, 0, 2, error::contended},
        row{1, 0, 0, error::contended, 2},
        row{1, 2, 0, error::contended},
        row{1, 1, 1, error::contended},
        row{0, 3, 0, error::node_rejected},
        row{0, 5, 0, error::node_rejected},
        row{0, 1, 2, error::node_rejected},
        row{0, 2, 1, error::node_rejected},
        row{0, 0, 3, error::quorum_unreachable},
        row{0, 0, 5, error::quorum_unreachable},
        row{2, 0, 0, {}},
        row{0, 2, 0, {}},
        row{0, 0, 2, {}},
        row{1, 1, 0, {}},
    };
    for (const auto& [denied, refused, failed, cause, down] : table)
    {
        BOOST_TEST_CONTEXT(
            denied << " denied " << refused << " refused " << failed << " failed " << down
                   << " down"
        )
        {
            running_client fixture;
            fixture.each_node(5 - down, 5, [](fake_node& node) {
                node.becomes(node_state::down, "connection refused");
            });
            fixture.each_node(0, denied, [](fake_node& node) {
                node.on(verb::acquire).reply(vote::denied, reason::held);
            });
            fixture.each_node(denied, denied + refused, [](fake_node& node) {
                node.on(verb::acquire).error("OOM command not allowed");
            });
            fixture.each_node(denied + refused, denied + refused + failed, [](fake_node& node) {
                node.on(verb::acquire).never();
            });

            const auto [ec, held] =
                fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));

            BOOST_TEST(ec == cause);
            BOOST_TEST(static_cast<bool>(held) == !cause);
            const bool acquired_is_the_question = ec == condition::not_acquired;
            BOOST_TEST(acquired_is_the_question == cause.failed());
        }
    }
}

BOOST_AUTO_TEST_CASE(nodes_that_do_not_answer_cost_one_node_timeout_and_those_that_are_down_no_time)
{
    for (const bool down : {false, true})
    {
        BOOST_TEST_CONTEXT((down ? "down" : "silent"))
        {
            running_client fixture({.node_timeout = 70ms});
            if (down)
                fixture.each_node(0, 3, [](fake_node& node) { node.becomes(node_state::down); });
            else
                fixture.silence(verb::acquire, 0, 3);

            const error_code ec =
                fixture.code_of(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));

            BOOST_TEST(ec == error::quorum_unreachable);
            BOOST_TEST(fixture.time().elapsed() == (down ? 0ms : 70ms));
        }
    }
}

BOOST_AUTO_TEST_CASE(an_unreachable_quorum_is_tried_again_until_the_wait_is_over)
{
    running_client fixture;
    fixture.each_node(0, 3, [](fake_node& node) { node.becomes(node_state::down, "refused"); });
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 5s}));
    fixture.advance(2s);
    BOOST_TEST(!held->done());

    fixture.node(0).becomes(node_state::ready);
    fixture.advance(1s);

    BOOST_TEST(held->done());
    BOOST_TEST(held->code() == error_code());
}

BOOST_AUTO_TEST_CASE(while_a_node_connects_no_time_of_the_lease_passes)
{
    client_fixture fixture({.nodes = 1});
    fixture.node(0).starts(node_state::connecting);
    fixture.start_client();
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.advance(20ms);
    BOOST_TEST(fixture.sent_to(verb::acquire).empty());

    const time_point start = fixture.time().now().steady;
    fixture.node(0).becomes(node_state::ready);
    fixture.run_until_idle();

    BOOST_TEST(held->code() == error_code());
    BOOST_TEST(held->value().valid_until() == deadline(start, 10s));
}

BOOST_AUTO_TEST_CASE(a_question_that_waited_too_long_for_a_connection_is_never_sent)
{
    client_fixture fixture({.nodes = 1});
    fixture.node(0).starts(node_state::connecting);
    fixture.start_client();

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.node(0).becomes(node_state::ready);
    fixture.advance(1s);

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(fixture.sent_to(verb::acquire).empty());
    BOOST_TEST(fixture.log(verb::release).empty());
}

BOOST_AUTO_TEST_CASE(a_lost_round_is_released_on_every_node_that_was_sent_it_and_on_no_other)
{
    running_client fixture;
    fixture.node(1).on(verb::acquire).never();                        // Timed out.
    fixture.node(2).on(verb::acquire).loses_answer();                 // Timed out, holds our key.
    fixture.node(3).on(verb::acquire).error("MISCONF");               // Refused.
    fixture.node(4).becomes(node_state::down, "connection refused");  // Never sent.

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.run_until_idle();

    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3}));
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lost_round_is_released_before_the_next_one_starts)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 300ms, 0, 3);

    const lease held = fixture.acquire("orders:42", {.wait = 5s});
    fixture.run_until_idle();

    std::string last_id;
    std::size_t rounds = 0;
    for (const asked_question& each : fixture.log())
    {
        if (each.what == verb::acquire && each.id != last_id)
        {
            // All releases of the round before lie before this one.
            const auto releases = fixture.log(verb::release);
            const auto of_last = std::ranges::count(releases, last_id, &asked_question::id);
            BOOST_TEST(of_last == (last_id.empty() ? 0 : 5));
            for (const asked_question& release : releases)
                BOOST_TEST((release.id != last_id || release.at <= each.at));
            last_id = each.id;
            ++rounds;
        }
    }
    BOOST_TEST(rounds >= 2u);
    BOOST_TEST(fixture.holders("orders:42", last_id) == 5u);
    BOOST_TEST(fixture.keys_left() == 5u);
}

BOOST_AUTO_TEST_CASE(a_command_that_runs_after_its_round_was_lost_leaves_nothing)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).runs_after(200ms); });

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    BOOST_TEST(ec == error::quorum_unreachable);
    fixture.advance(200ms);

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_grant_that_arrives_after_the_decision_is_released_with_the_lease)
{
    // The grant arrives before the release, and after it.
    const std::pair<milliseconds, std::size_t> moments[] = {{45ms, 5}, {10ms, 4}};
    for (const auto& [held_for, keys] : moments)
    {
        BOOST_TEST_CONTEXT("held for " << held_for.count() << " ms")
        {
            running_client fixture;
            fixture.node(4).on(verb::acquire).runs_after(40ms);
            {
                const lease held = fixture.acquire("orders:42");
                BOOST_TEST(fixture.time().elapsed() == 0ms);
                fixture.advance(held_for);
                BOOST_TEST(fixture.keys_left() == keys);
            }
            fixture.run_until_idle();
            fixture.advance(40ms);

            BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3, 4}));
            BOOST_TEST(fixture.keys_left() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_grant_that_arrives_after_a_lost_round_revives_nothing)
{
    running_client fixture;
    fixture.each_node(0, 3, [](fake_node& node) {
        node.on(verb::acquire).reply(vote::denied, reason::held);
    });
    fixture.each_node(3, 5, [](fake_node& node) { node.on(verb::acquire).after(30ms); });

    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.run_until_idle();
    BOOST_TEST(held->code() == error::contended);
    fixture.advance(100ms);

    BOOST_TEST(held->completions == 1u);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_votes_once_however_often_it_answers)
{
    running_client fixture;
    fixture.node(0).on(verb::acquire).repeated(3);
    fixture.silence(verb::acquire, 1, 5);

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(!held);
}

BOOST_AUTO_TEST_CASE(a_release_that_the_connection_swallowed_is_sent_over_the_next_one)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 3);
    fixture.node(4).on(verb::release).breaks_connection(200ms);

    fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    fixture.run_until_idle();
    BOOST_TEST(fixture.keys_left() == 1u);
    fixture.advance(200ms);

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_try_yields_a_lease_or_an_empty_one_in_one_round_whatever_the_wait)
{
    for (const bool is_held : {false, true})
    {
        BOOST_TEST_CONTEXT((is_held ? "held" : "free"))
        {
            running_client fixture;
            if (is_held)
                fixture.hold_elsewhere("orders:42", 100ms, 0, 3);
            const time_point start = fixture.time().now().steady;

            const auto tried =
                launch(fixture.locks().async_try_acquire("orders:42", {.ttl = 10s, .wait = forever})
                );
            fixture.run_until_idle();
            BOOST_TEST(tried->done());
            fixture.advance(1s);

            BOOST_TEST(tried->code() == error_code());
            BOOST_TEST(static_cast<bool>(tried->value()) == !is_held);
            BOOST_TEST(tried->value().expired() == is_held);
            if (!is_held)
                BOOST_TEST(tried->value().valid_until() == deadline(start, 10s));
            BOOST_TEST(fixture.log(verb::acquire).size() == 5u);
            BOOST_TEST(fixture.keys_left() == (is_held ? 0u : 5u));
        }
    }
}

BOOST_AUTO_TEST_CASE(trying_fails_when_the_nodes_are_the_reason)
{
    using trouble = void (*)(fake_node&);
    const std::tuple<trouble, milliseconds, error> troubles[] = {
        {[](fake_node& node) { node.on(verb::acquire).never(); }, 10s, error::quorum_unreachable},
        {[](fake_node& node) { node.on(verb::acquire).error("NOAUTH"); }, 10s, error::node_rejected
        },
        {[](fake_node& node) { node.on(verb::acquire).after(30ms); },
         60ms,
         error::validity_exhausted},
    };
    for (const auto& [begin, ttl, code] : troubles)
    {
        BOOST_TEST_CONTEXT(code)
        {
            running_client fixture({.clock_drift = 0.5});
            fixture.each_node(begin);

            const auto [ec, held] =
                fixture.complete(fixture.locks().async_try_acquire("orders:42", ttl));

            BOOST_TEST(ec == code);
            const bool nodes_are_unavailable = ec == condition::nodes_unavailable;
            BOOST_TEST(nodes_are_unavailable == (code != error::validity_exhausted));
            BOOST_TEST(!held);
        }
    }
}

BOOST_AUTO_TEST_CASE(acquisitions_of_one_client_are_independent)
{
    running_client fixture;

    const lease one = fixture.acquire("one");
    const lease two = fixture.acquire("two");
    const auto again = fixture.complete(fixture.locks().async_try_acquire("one", 10s));

    BOOST_TEST(!one.expired());
    BOOST_TEST(!two.expired());
    BOOST_TEST(!std::get<1>(again));
    BOOST_TEST(fixture.keys_left() == 10u);
}

BOOST_AUTO_TEST_SUITE_END()
