#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_overload)

/// More work than the nodes do in time.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr std::size_t first_window = 64;
constexpr milliseconds node_timeout = 50ms;

using acquiring = std::shared_ptr<pending<lease>>;

std::string resource(std::size_t number)
{
    return "orders:" + std::to_string(number);
}

std::vector<acquiring> start_many(client_fixture& fixture, std::size_t count, milliseconds wait)
{
    std::vector<acquiring> all;
    for (std::size_t i = 0; i < count; ++i)
    {
        const acquire_options how{.ttl = 10s, .wait = wait};
        all.push_back(launch(fixture.locks().async_acquire(resource(i), how)));
    }
    fixture.run_until_idle();
    return all;
}

/// Leases that extend themselves.
std::vector<lease> hold_many(client_fixture& fixture, std::size_t count)
{
    std::vector<lease> held;
    for (std::size_t i = 0; i < count; ++i)
        held.push_back(fixture.acquire(resource(i), {.ttl = 10s, .auto_extend = true}));
    return held;
}

std::size_t ended_with(const std::vector<acquiring>& all, error_code code)
{
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const acquiring& each) {
        return each->done() && each->code() == code;
    }));
}

std::size_t rounds_sent(const client_fixture& fixture, verb what = verb::acquire)
{
    return fixture.sent_to(what).size() / fixture.node_count();
}

struct waits_counter final : observer
{
    void on_waiting(const waiting_event&) noexcept override { ++count; }

    std::size_t count = 0;
};

void answer_after(client_fixture& fixture, verb what, milliseconds delay)
{
    fixture.each_node([&](fake_node& node) { node.on(what).runs_after(delay); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_burst_sends_no_more_rounds_than_the_nodes_answer)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 20ms);

    const auto all = start_many(fixture, 500, 10s);

    BOOST_TEST(rounds_sent(fixture) == first_window);
    const metrics now = fixture.locks().metrics();
    BOOST_TEST(now.rounds_under_way == first_window);
    BOOST_TEST(now.waiting_for_place == 500 - first_window);
    BOOST_TEST(now.window == first_window);

    fixture.advance(1s);
    BOOST_TEST(ended_with(all, {}) == 500u);
    BOOST_TEST(rounds_sent(fixture) == 500u);
    BOOST_TEST(fixture.locks().metrics().rounds_lost == 0u);
    BOOST_TEST(fixture.locks().metrics().rounds_under_way == 0u);
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_place_takes_nothing_from_the_validity)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 40ms);

    const auto all = start_many(fixture, 200, 10s);
    const time_point end = fixture.time().now().steady + 10s;
    fixture.advance(1s);

    BOOST_TEST_REQUIRE(ended_with(all, {}) == 200u);
    BOOST_TEST((all.front()->value().valid_until() < end));
    BOOST_TEST((all.back()->value().valid_until() > all.front()->value().valid_until() + 30ms));
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_place_is_no_longer_than_asked_for)
{
    running_client fixture;
    fixture.silence(verb::acquire);

    const auto all = start_many(fixture, 100, 200ms);
    fixture.advance(199ms);
    BOOST_TEST(ended_with(all, error::overloaded) == 0u);
    fixture.advance(2ms);

    BOOST_TEST(ended_with(all, error::overloaded) == 100 - first_window);
    BOOST_TEST(rounds_sent(fixture) == first_window);
}

BOOST_AUTO_TEST_CASE(a_try_waits_for_a_place_as_long_as_for_an_answer)
{
    running_client fixture;
    fixture.silence(verb::acquire);

    const auto all = start_many(fixture, 100, 0ms);
    BOOST_TEST(ended_with(all, error::overloaded) == 0u);
    fixture.advance(node_timeout + 1ms);

    BOOST_TEST(ended_with(all, error::quorum_unreachable) == first_window);
    BOOST_TEST(ended_with(all, error::overloaded) == 100 - first_window);
}

BOOST_AUTO_TEST_CASE(a_thousand_tries_of_free_resources_all_succeed)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 1ms);
    const auto all = start_many(fixture, 1000, 0ms);
    fixture.advance(1s);
    BOOST_TEST(ended_with(all, {}) == 1000u);
}

BOOST_AUTO_TEST_CASE(overload_is_told_of_this_client_and_not_of_the_nodes)
{
    std::vector<std::string> lines;
    running_client fixture({.lines = &lines});
    fixture.silence(verb::acquire);
    const auto all = start_many(fixture, first_window, 0ms);

    diagnostics told;
    const auto [ec, held] = fixture.complete(
        fixture.locks().async_acquire("orders", {.ttl = 10s, .wait = 0ms, .report = &told})
    );

    BOOST_TEST(ec == error::overloaded);
    BOOST_TEST(!held);
    BOOST_TEST((ec == condition::not_acquired));
    BOOST_TEST((ec != condition::nodes_unavailable));
    BOOST_TEST(contains(told.problem, "as many rounds under way as the nodes answer in time (64)"));
    BOOST_TEST(told.votes.empty());
    BOOST_TEST(std::ranges::count_if(lines, [](const std::string& line) {
                   return contains(line, "as many rounds under way");
               }) == 1);
}

BOOST_AUTO_TEST_CASE(the_observer_is_told_who_waits_for_a_place_but_not_of_tries)
{
    const auto seen = std::make_shared<waits_counter>();
    running_client fixture({.observer = seen});
    fixture.silence(verb::acquire);

    (void)start_many(fixture, 100, 10s);
    BOOST_TEST(seen->count == 100 - first_window);
    (void)start_many(fixture, 10, 0ms);
    BOOST_TEST(seen->count == 100 - first_window);
}

BOOST_AUTO_TEST_CASE(a_place_is_free_when_the_nodes_have_answered_and_not_when_they_are_given_up)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 300ms);
    (void)start_many(fixture, first_window, 0ms);

    fixture.advance(2 * node_timeout);
    BOOST_TEST(fixture.locks().metrics().rounds_under_way == first_window);

    fixture.advance(300ms);
    BOOST_TEST(fixture.locks().metrics().rounds_under_way == 0u);
}

BOOST_AUTO_TEST_CASE(a_place_is_free_when_a_quorum_has_answered)
{
    running_client fixture;
    fixture.silence(verb::acquire, 0, 2);
    const auto all = start_many(fixture, 500, 10s);
    fixture.advance(10ms);
    BOOST_TEST(ended_with(all, {}) == 500u);
}

BOOST_AUTO_TEST_CASE(who_waits_takes_a_late_grant_and_asks_only_once)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 400ms);
    const auto all = start_many(fixture, 1, 5s);

    fixture.advance(401ms);

    BOOST_TEST(ended_with(all, {}) == 1u);
    BOOST_TEST(rounds_sent(fixture) == 1u);
    BOOST_TEST((all.front()->value().remaining() < 9600ms));
}

BOOST_AUTO_TEST_CASE(a_try_takes_no_late_grant)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 400ms);
    const auto all = start_many(fixture, 1, 0ms);
    fixture.advance(node_timeout + 1ms);
    BOOST_TEST(ended_with(all, error::quorum_unreachable) == 1u);
}

BOOST_AUTO_TEST_CASE(a_round_with_a_grant_and_a_denial_does_not_wait_for_late_answers)
{
    running_client fixture;
    fixture.hold_elsewhere(resource(0), 10s, 0, 1);
    fixture.each_node(2, 5, [](fake_node& node) { node.on(verb::acquire).runs_after(400ms); });
    const auto all = start_many(fixture, 1, 5s);

    fixture.advance(node_timeout - 1ms);
    BOOST_TEST(rounds_sent(fixture, verb::release) == 0u);
    fixture.advance(2ms);

    BOOST_TEST(rounds_sent(fixture, verb::release) == 1u);
}

BOOST_AUTO_TEST_CASE(a_denial_ends_the_wait_of_a_round_that_has_a_grant)
{
    running_client fixture;
    fixture.hold_elsewhere(resource(0), 10s, 0, 1);
    fixture.node(0).on(verb::acquire).runs_after(300ms);
    fixture.each_node(2, 5, [](fake_node& node) { node.on(verb::acquire).runs_after(400ms); });
    (void)start_many(fixture, 1, 5s);

    fixture.advance(299ms);
    BOOST_TEST(rounds_sent(fixture, verb::release) == 0u);
    fixture.advance(2ms);

    BOOST_TEST(rounds_sent(fixture, verb::release) == 1u);
}

// It keeps nobody from winning, and giving back would only make more work for nodes that are slow.
BOOST_AUTO_TEST_CASE(a_round_without_a_grant_waits_for_late_denials)
{
    running_client fixture;
    fixture.hold_elsewhere(resource(0), 10s, 0, 5);
    fixture.each_node(1, 5, [](fake_node& node) { node.on(verb::acquire).runs_after(400ms); });
    (void)start_many(fixture, 1, 5s);

    fixture.advance(399ms);

    BOOST_TEST(rounds_sent(fixture) == 1u);
    BOOST_TEST(rounds_sent(fixture, verb::release) == 0u);
    BOOST_TEST(rounds_sent(fixture, verb::undo) == 0u);
}

BOOST_AUTO_TEST_CASE(half_of_the_ttl_is_left_of_a_late_grant)
{
    running_client fixture;
    fixture.silence(verb::acquire);
    const auto started = launch(fixture.locks().async_acquire("orders", {.ttl = 1s, .wait = 10s}));

    fixture.advance(499ms);
    BOOST_TEST(rounds_sent(fixture, verb::release) == 0u);
    fixture.advance(2ms);

    BOOST_TEST(rounds_sent(fixture, verb::release) == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_quorum_of_ready_nodes_nobody_is_asked)
{
    running_client fixture;
    fixture.each_node(0, 3, [](fake_node& node) {
        node.becomes(node_state::down, "it is down", asio::error::connection_refused);
    });
    fixture.run_until_idle();

    const auto all = start_many(fixture, 10, 5s);
    fixture.advance(3s);
    BOOST_TEST(rounds_sent(fixture) == 0u);
    BOOST_TEST(ended_with(all, {}) == 0u);
    fixture.each_node(0, 3, [](fake_node& node) { node.becomes(node_state::ready); });
    fixture.run_until_idle();

    BOOST_TEST(ended_with(all, {}) == 10u);
}

BOOST_AUTO_TEST_CASE(without_a_quorum_of_ready_nodes_a_try_fails_at_once)
{
    running_client fixture;
    fixture.each_node(0, 3, [](fake_node& node) {
        node.becomes(node_state::down, "it is down", asio::error::connection_refused);
    });
    fixture.run_until_idle();
    const auto all = start_many(fixture, 10, 0ms);
    BOOST_TEST(ended_with(all, error::quorum_unreachable) == 10u);
}

BOOST_AUTO_TEST_CASE(a_corrected_round_keeps_its_place)
{
    running_client fixture({.mode = mode::guarded});
    fixture.time().set_wall_offset(10min);
    answer_after(fixture, verb::acquire, 1ms);
    const auto all = start_many(fixture, 200, 10s);

    fixture.advance(1ms);
    // Those that were refused for their clock ask again, before anybody else does.
    fixture.run_until_idle();
    BOOST_TEST(rounds_sent(fixture) >= 2 * first_window);
    const journal asked = fixture.log(verb::acquire);
    for (std::size_t i = 0; i < first_window; ++i)
    {
        const std::string& key = asked[(first_window + i) * fixture.node_count()].key;
        BOOST_TEST(key == asked[i * fixture.node_count()].key);
    }
    fixture.advance(1s);
    BOOST_TEST(ended_with(all, {}) == 200u);
}

BOOST_AUTO_TEST_CASE(no_clock_is_learned_from_late_answers)
{
    running_client fixture({.mode = mode::guarded});
    answer_after(fixture, verb::acquire, 700ms);  // Longer than the window of tokens.
    const auto late = start_many(fixture, 1, 5s);
    fixture.advance(701ms);
    fixture.be_honest();
    fixture.advance(1s);
    fixture.log().clear();

    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    const auto [ec, held] = fixture.complete(fixture.locks().async_try_acquire("orders", 10s));

    BOOST_TEST(!ec);
    BOOST_TEST(rounds_sent(fixture) == 1u);
    BOOST_TEST(held.fence().value() - now < 100'000u);  // And not half of what they took.
}

BOOST_AUTO_TEST_CASE(extensions_have_a_window_of_their_own)
{
    running_client fixture;
    const std::vector<lease> held = hold_many(fixture, 200);
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).never();
        node.on(verb::extend).runs_after(20ms);
    });
    (void)start_many(fixture, 500, 10s);

    fixture.advance(5s);

    const metrics now = fixture.locks().metrics();
    BOOST_TEST(now.extended == 200u);
    BOOST_TEST(now.lost == 0u);
}

BOOST_AUTO_TEST_CASE(extensions_too_are_as_many_as_the_nodes_answer)
{
    running_client fixture;
    const std::vector<lease> held = hold_many(fixture, 200);
    fixture.silence(verb::extend);

    fixture.advance(9s);

    BOOST_TEST(rounds_sent(fixture, verb::extend) == first_window);
}

BOOST_AUTO_TEST_CASE(a_lease_that_ends_while_its_extension_waits_for_a_place_is_not_extended)
{
    running_client fixture;
    const std::vector<lease> held = hold_many(fixture, first_window);
    fixture.silence(verb::extend);
    fixture.advance(5s);
    lease mine = fixture.acquire("orders", {.ttl = 1s});

    const auto extended = launch(mine.async_extend(10s));
    fixture.advance(2s);

    BOOST_TEST(extended->code() == error::lease_lost);
    BOOST_TEST(rounds_sent(fixture, verb::extend) == first_window);
}

BOOST_AUTO_TEST_CASE(close_leaves_no_key_of_a_round_that_was_given_up)
{
    running_client fixture;
    answer_after(fixture, verb::acquire, 300ms);
    answer_after(fixture, verb::release, 100ms);
    (void)start_many(fixture, 10, 0ms);
    fixture.advance(node_timeout + 1ms);

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(!ec);
    fixture.each_node([](fake_node& node) { BOOST_TEST(node.owed_releases() == 0u); });
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
