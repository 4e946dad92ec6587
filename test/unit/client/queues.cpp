// Waiting in the queues of the nodes, with several clients in virtual time.

#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

namespace queues_tests {

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::news;
using detail::verb;

namespace {

constexpr acquire_options patient{.ttl = 10s, .wait = 1min};

/// Puts somebody of another client into the queue of a node.
void enter(fake_node& node, const std::string& who, std::uint64_t arrival)
{
    auto& queue = node.queues().waiting["orders:42"];
    queue.push_back({arrival, who});
    std::ranges::sort(queue);
}

struct queue_fixture : running_client
{
    queue_fixture() : running_client({.mode = mode::guarded}) {}

    /// Starts an acquisition of what another client holds.
    auto wait_for_it(const acquire_options& options = patient)
    {
        hold_elsewhere("orders:42", 9s, 0, 5);
        auto waiting = launch(locks().async_acquire("orders:42", options));
        run_until_idle();
        return waiting;
    }

    /// The holder gives back, and the nodes `first` to `last` tell this client.
    void give_back(std::size_t first, std::size_t last)
    {
        each_node([](fake_node& node) { node.store().erase("orders:42"); });
        wake(first, last);
    }

    /// The nodes `first` to `last` tell this client that the resource may be free.
    void wake(std::size_t first, std::size_t last)
    {
        each_node(first, last, [](fake_node& node) { node.tell({news::kind::free, "orders:42"}); });
        run_until_idle();
    }

    [[nodiscard]] std::size_t places()
    {
        std::size_t count = 0;
        each_node([&count](fake_node& node) { count += node.queues().waiting["orders:42"].size(); }
        );
        return count;
    }

    [[nodiscard]] std::size_t rounds() { return sent_to(verb::acquire).size() / 5; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_client_queues)

BOOST_AUTO_TEST_CASE(who_is_denied_has_a_place_on_every_node)
{
    queue_fixture fixture;
    diagnostics report;
    acquire_options options = patient;
    options.wait = 100ms;
    options.report = &report;
    const auto waiting = fixture.wait_for_it(options);
    BOOST_TEST(fixture.places() == 5u);

    fixture.advance(200ms);

    BOOST_TEST(waiting->code() == error::contended);
    BOOST_TEST(report.votes.front().position.value() == 1u);
    BOOST_TEST(to_string(report).find("left (1st in the queue)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(who_gives_up_leaves_every_queue)
{
    const std::pair<milliseconds, milliseconds> waits[] = {{0ms, 100ms}, {60ms, 20ms}};
    for (const auto& [late, wait] : waits)
    {
        BOOST_TEST_CONTEXT("nodes that deny after " << late.count() << " ms")
        {
            queue_fixture fixture;
            for (std::size_t index = 0; index < 5; ++index)
                fixture.node(index).on(verb::acquire).runs_after(late);
            acquire_options options = patient;
            options.wait = wait;
            const auto waiting = fixture.wait_for_it(options);

            fixture.advance(1s);

            BOOST_TEST(waiting->done());
            BOOST_TEST(fixture.places() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_leaves_every_queue)
{
    for (std::size_t steps = 0; steps < 50; ++steps)
    {
        BOOST_TEST_CONTEXT("after " << steps << " steps")
        {
            queue_fixture fixture;
            fixture.hold_elsewhere("orders:42", 9s, 0, 5);
            fixture.each_node([](fake_node& node) { node.on(verb::acquire).runs_after(5ms); });
            const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
            for (std::size_t step = 0; step < steps; ++step)
                fixture.step(fixture.time().elapsed() + 1s);

            waiting->cancel();
            fixture.run_until_idle();
            BOOST_TEST(waiting->done());
            fixture.advance(200ms);

            BOOST_TEST(fixture.places() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_quorum_of_nodes_wakes_who_waits_and_fewer_do_not)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();

    fixture.give_back(0, 2);
    BOOST_TEST(!waiting->done());
    BOOST_TEST(fixture.rounds() == 1u);
    fixture.give_back(2, 3);

    BOOST_TEST_REQUIRE(waiting->done());
    BOOST_TEST(waiting->code() == error_code());
    BOOST_TEST(fixture.rounds() == 2u);
    BOOST_TEST(fixture.locks().metrics().woken == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_that_says_it_twice_counts_once)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();

    for (int i = 0; i < 5; ++i)
        fixture.give_back(0, 2);

    BOOST_TEST(!waiting->done());
}

BOOST_AUTO_TEST_CASE(what_was_said_before_a_round_does_not_count_after_it)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.wake(0, 3);  // A foreign client is faster.
    BOOST_TEST(fixture.rounds() == 2u);

    fixture.wake(3, 5);

    BOOST_TEST(fixture.rounds() == 2u);
}

BOOST_AUTO_TEST_CASE(nodes_that_wake_nobody_are_polled)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });

    fixture.advance(60ms);

    BOOST_TEST(waiting->code() == error_code());
}

BOOST_AUTO_TEST_CASE(polls_become_rare_while_nobody_gives_back)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();

    fixture.advance(8s);

    BOOST_TEST(fixture.rounds() >= 15u);
    BOOST_TEST(fixture.rounds() <= 22u);
}

BOOST_AUTO_TEST_CASE(the_first_in_a_queue_asks_when_the_holder_must_have_gone)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();

    fixture.advance(9s + 20ms);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(only_the_first_in_a_queue_asks_to_be_told_of_changes)
{
    queue_fixture fixture;
    fixture.each_node([](fake_node& node) { enter(node, "earlier", 1); });
    const auto waiting = fixture.wait_for_it();
    fixture.advance(40ms);
    BOOST_TEST(fixture.sent_to(verb::track).empty());

    fixture.each_node([](fake_node& node) { node.queues().waiting["orders:42"].clear(); });
    fixture.advance(200ms);

    BOOST_TEST(!fixture.sent_to(verb::track).empty());
}

BOOST_AUTO_TEST_CASE(a_key_is_watched_once_until_it_changes)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.advance(5s);
    BOOST_TEST(fixture.sent_to(verb::track).size() == 5u);

    fixture.each_node([](fake_node& node) { node.tell({news::kind::free, "orders:42"}); });
    fixture.advance(40ms);

    BOOST_TEST(fixture.sent_to(verb::track).size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_key_that_has_gone_when_it_is_watched_wakes_at_once)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });

    fixture.advance(20ms);

    BOOST_TEST(waiting->code() == error_code());
}

BOOST_AUTO_TEST_CASE(a_lost_round_keeps_its_place)
{
    queue_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 3);
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
    fixture.run_until_idle();

    BOOST_TEST(!waiting->done());
    BOOST_TEST(fixture.keys_left() == 0u);
    BOOST_TEST(fixture.places() >= 3u);
}

BOOST_AUTO_TEST_CASE(a_hold_that_was_waited_for_leaves_its_places)
{
    queue_fixture fixture;
    auto waiting = fixture.wait_for_it();
    fixture.give_back(0, 3);
    BOOST_TEST_REQUIRE(waiting->done());
    lease held = std::move(waiting->value());

    fixture.complete(held.async_release());

    BOOST_TEST(fixture.places() == 0u);
    BOOST_TEST(fixture.sent_to(verb::leave).empty());  // The release did it, and woke nobody.
}

BOOST_AUTO_TEST_CASE(a_try_enters_no_queue_and_yields_to_a_reservation)
{
    queue_fixture fixture;
    fixture.each_node([](fake_node& node) {
        node.queues().reserved["orders:42"] = {{1, "another"}, 10s};
    });

    const auto [ec, held] = fixture.complete(fixture.locks().async_try_acquire("orders:42", 10s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(!held);
    BOOST_TEST(fixture.places() == 0u);
}

BOOST_AUTO_TEST_CASE(reservations_of_nobody_hold_nobody_up_for_longer_than_they_last)
{
    queue_fixture fixture;
    fixture.each_node([](fake_node& node) {
        node.queues().reserved["orders:42"] = {{1, "another"}, 50ms};
    });
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));

    fixture.advance(70ms);

    BOOST_TEST(waiting->code() == error_code());
}

BOOST_AUTO_TEST_CASE(who_is_woken_without_waiting_lets_the_next_one_go)
{
    queue_fixture fixture;
    fixture.node(0).tell({news::kind::free, "orders:42"});
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::leave) == (std::vector<std::size_t>{0}));
}

// No script of theirs leaves a queue, so a node that wakes them without being asked is ignored.
BOOST_AUTO_TEST_CASE(a_client_that_polls_leaves_no_queue_when_a_node_wakes_it)
{
    running_client fixture({.mode = mode::plain});
    fixture.node(0).tell({news::kind::free, "orders:42"});
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::leave).empty());
}

BOOST_AUTO_TEST_CASE(a_key_that_no_resource_of_this_client_has_asks_no_question)
{
    queue_fixture fixture;
    fixture.node(0).tell({news::kind::free, ""});
    const std::string too_long(core::max_resource_size + 1, 'x');
    fixture.node(0).tell({news::kind::free, too_long});
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::leave).empty());
}

BOOST_AUTO_TEST_CASE(a_client_without_queues_takes_no_place)
{
    running_client fixture({.mode = mode::guarded, .queue = false});
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
    fixture.run_until_idle();

    BOOST_TEST(fixture.node(0).queues().waiting["orders:42"].empty());
    BOOST_TEST(!waiting->done());
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_given_back_before_a_slow_node_denies_leaves_no_place)
{
    queue_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 3, 5);
    fixture.each_node(3, 5, [](fake_node& node) { node.on(verb::acquire).runs_after(5ms); });
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
    fixture.run_until_idle();
    BOOST_TEST_REQUIRE(waiting->done());

    waiting->value() = {};
    fixture.advance(200ms);

    BOOST_TEST(fixture.places() == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_that_closes_at_any_step_ends_its_waiters_at_once)
{
    for (std::size_t steps = 0; steps < 50; ++steps)
    {
        BOOST_TEST_CONTEXT("after " << steps << " steps")
        {
            queue_fixture fixture;
            lease other = fixture.acquire("other", {.ttl = 10s});
            const auto told = launch(other.async_wait_lost());  // The client waits for its end.
            fixture.hold_elsewhere("orders:42", 9s, 0, 5);
            const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
            for (std::size_t step = 0; step < steps; ++step)
                fixture.step(fixture.time().elapsed() + 1s);

            const auto closed = launch(fixture.locks().async_close());
            fixture.run_until_idle();

            BOOST_TEST(waiting->done());
            const std::size_t asked = fixture.rounds();
            fixture.advance(1s);
            BOOST_TEST(fixture.rounds() == asked);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_client_that_finds_the_queue_full_asks_as_the_one_in_its_middle)
{
    queue_fixture fixture;
    fixture.each_node([](fake_node& node) {
        for (std::uint64_t each = 0; each < core::max_queue; ++each)
            node.queues().waiting["orders:42"].push_back({each, std::to_string(each)});
    });
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    diagnostics report;
    acquire_options options = patient;
    options.report = &report;
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", options));
    fixture.run_until_idle();
    BOOST_TEST(!report.votes[0].position);

    fixture.advance(4s);
    BOOST_TEST(fixture.rounds() == 1u);
    fixture.advance(10s);
    BOOST_TEST(fixture.rounds() >= 2u);
    BOOST_TEST(fixture.rounds() <= 4u);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_behind_takes_nobody_past_a_reservation)
{
    queue_fixture fixture;
    const auto now = static_cast<std::uint64_t>(beginning_of_time.count());
    fixture.each_node([&](fake_node& node) {
        node.queues().reserved["orders:42"] = {{now, "beef"}, fixture.time().elapsed() + 50ms};
    });
    fixture.time().set_wall_offset(-1h);

    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
    fixture.run_until_idle();
    BOOST_TEST(!waiting->done());
    fixture.advance(1s);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct turns_fixture : queue_fixture
{
    /// The arrival of this client in the queue of the first node. Zero: it is not in there.
    [[nodiscard]] nanoseconds arrival()
    {
        const auto& queue = node(0).queues().waiting["orders:42"];
        if (queue.empty())
            return 0ns;
        return std::chrono::microseconds(queue.front().arrival) - beginning_of_time;
    }

    /// Another client has been woken that waits since then.
    void reserve(nanoseconds since)
    {
        const nanoseconds at = beginning_of_time + since;
        const auto arrival = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
        each_node([&](fake_node& node) {
            node.queues().reserved["orders:42"] = {
                {static_cast<std::uint64_t>(arrival), "beef"}, time().elapsed() + 50ms
            };
        });
    }

    auto wait(milliseconds longest = 1min)
    {
        auto waiting = launch(locks().async_acquire("orders:42", {.ttl = 10s, .wait = longest}));
        run_until_idle();
        return waiting;
    }

    void give_back_own(lease& held)
    {
        held = lease();
        run_until_idle();
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_turns)

BOOST_AUTO_TEST_CASE(between_clients_turns_go_round_however_long_a_line_is)
{
    turns_fixture fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const auto next = fixture.wait();
    fixture.advance(100ms);
    fixture.reserve(50ms);

    fixture.give_back_own(held);

    BOOST_TEST(!next->done());
    BOOST_TEST(fixture.arrival() == 100ms);
}

BOOST_AUTO_TEST_CASE(who_came_after_the_last_hold_of_its_client_waits_since_it_came)
{
    turns_fixture fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    fixture.give_back_own(held);
    fixture.advance(100ms);

    const auto waiting = fixture.wait_for_it();

    BOOST_TEST(!waiting->done());
    BOOST_TEST(fixture.arrival() == 100ms);
}

BOOST_AUTO_TEST_CASE(turns_of_a_client_whose_clock_is_wrong_go_round_too)
{
    turns_fixture fixture;
    fixture.each_node([](fake_node& node) { node.guard().clock_offset = 1h; });
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const auto next = fixture.wait();
    fixture.advance(100ms);
    fixture.reserve(1h + 50ms);

    fixture.give_back_own(held);

    BOOST_TEST(!next->done());
    BOOST_TEST((fixture.arrival() >= 1h + 100ms));
}

BOOST_AUTO_TEST_CASE(a_head_that_gives_up_leaves_its_seniority_to_those_behind_it)
{
    turns_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    const auto first = fixture.wait(200ms);
    BOOST_TEST(fixture.arrival() == 0ms);
    fixture.advance(100ms);
    const auto second = fixture.wait();

    fixture.advance(150ms);

    BOOST_TEST(first->done());
    BOOST_TEST(fixture.places() == 5u);
    BOOST_TEST(fixture.arrival() == 0ms);
}

BOOST_AUTO_TEST_CASE(seniority_is_not_left_to_who_comes_later)
{
    turns_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    const auto first = fixture.wait(100ms);
    const auto second = fixture.wait(300ms);
    fixture.advance(200ms);
    BOOST_TEST(first->done());
    // The second one asks now, and leaves what it has to nobody but those behind it.
    fixture.advance(150ms);
    BOOST_TEST(second->done());

    const auto later = fixture.wait();

    BOOST_TEST(fixture.arrival() == 350ms);
}

BOOST_AUTO_TEST_CASE(a_grant_ends_the_seniority_that_was_left_behind)
{
    turns_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    const auto first = fixture.wait(100ms);
    const auto second = fixture.wait();
    const auto third = fixture.wait();
    fixture.advance(150ms);
    BOOST_TEST(first->done());
    fixture.give_back(0, 5);
    BOOST_TEST_REQUIRE(second->done());
    fixture.advance(100ms);
    fixture.reserve(200ms);

    fixture.give_back_own(second->value());

    BOOST_TEST(!third->done());
    BOOST_TEST(fixture.arrival() == 250ms);
}

BOOST_AUTO_TEST_CASE(a_client_that_learns_that_its_clock_was_behind_arrives_anew)
{
    turns_fixture fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const auto next = fixture.wait();
    fixture.time().set_wall_offset(-1h);
    fixture.advance(100ms);
    fixture.reserve(50ms);

    fixture.give_back_own(held);
    fixture.advance(49ms);
    BOOST_TEST(!next->done());
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    fixture.each_node([](fake_node& node) { node.queues().waiting.clear(); });
    fixture.advance(1s);

    BOOST_TEST(!next->done());
    BOOST_TEST(fixture.arrival() >= 100ms);
}

BOOST_AUTO_TEST_CASE(a_head_that_gives_up_leaves_no_seniority_by_a_wrong_clock)
{
    turns_fixture fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    fixture.time().set_wall_offset(-1h);
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(20ms).once(); });
    const auto first = fixture.wait();
    const auto second = fixture.wait();

    first->cancel();
    fixture.advance(100ms);  // It learns the time.
    fixture.each_node([](fake_node& node) { node.queues().waiting.clear(); });
    fixture.advance(1s);

    BOOST_TEST(!second->done());
    BOOST_TEST(fixture.arrival() >= 0ms);
}

BOOST_AUTO_TEST_CASE(who_has_waited_longest_goes_before_a_reservation)
{
    turns_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.advance(2s);
    // Longer ago than the window of clocks, and later than the other one.
    fixture.reserve(1s);
    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });

    fixture.wake(0, 3);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(who_is_next_asks_when_the_reservation_for_another_ends)
{
    turns_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.advance(5s);  // Polls have become rare.
    fixture.log().clear();
    while (fixture.rounds() == 0)
        fixture.advance(1ms);
    fixture.log().clear();
    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });
    fixture.each_node(0, 2, [](fake_node& node) {
        node.tell({news::kind::next, "orders:42", 50});
    });
    fixture.advance(60ms);
    BOOST_TEST(fixture.rounds() == 0u);

    fixture.node(2).tell({news::kind::next, "orders:42", 50});
    fixture.advance(51ms);
    BOOST_TEST(!waiting->done());
    fixture.advance(2ms);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(who_is_next_asks_no_later_because_it_is)
{
    turns_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.each_node([](fake_node& node) { node.store().erase("orders:42"); });
    fixture.each_node([](fake_node& node) { node.tell({news::kind::next, "orders:42", 15'000}); });

    fixture.advance(60ms);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_far_away_tells_how_long_it_needs)
{
    client_fixture fixture({.node_timeout = 200ms, .mode = mode::guarded});
    fixture.start_client();
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(60ms); });
    (void)fixture.acquire("another");
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);

    const auto waiting = launch(fixture.locks().async_acquire("orders:42", patient));
    fixture.advance(100ms);

    BOOST_TEST(fixture.node(0).queues().distant.size() == 1u);
    BOOST_TEST((fixture.node(0).queues().distant.begin()->second == 120ms));
}

BOOST_AUTO_TEST_CASE(the_token_of_a_far_client_is_drawn_for_the_time_at_which_its_answer_comes)
{
    client_fixture fixture({.node_timeout = 200ms, .mode = mode::guarded});
    fixture.start_client();
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(60ms); });
    (void)fixture.acquire("another");

    const auto now = static_cast<std::uint64_t>(fixture.time().wall().count());
    const lease held = fixture.acquire("orders:42");

    BOOST_TEST(held.fence().value() == now + 60'000);
}

BOOST_AUTO_TEST_CASE(a_client_that_is_near_says_nothing_of_it)
{
    queue_fixture fixture;
    (void)fixture.acquire("another");
    const auto waiting = fixture.wait_for_it();
    BOOST_TEST(fixture.node(0).queues().distant.empty());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_connected_again_is_asked_again_to_watch)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.advance(5s);
    BOOST_TEST(fixture.sent_to(verb::track).size() == 5u);
    const std::size_t rounds = fixture.rounds();

    fixture.node(1).becomes(node_state::down, "lost", asio::error::connection_reset);
    fixture.run_until_idle();
    fixture.node(1).becomes(node_state::ready);
    fixture.run_until_idle();

    const std::vector<std::size_t> asked = fixture.sent_to(verb::track);
    BOOST_TEST(std::ranges::count(asked, 1u) == 2);
    BOOST_TEST(fixture.rounds() == rounds);
}

BOOST_AUTO_TEST_CASE(who_is_woken_while_a_node_is_connected_asks)
{
    queue_fixture fixture;
    const auto waiting = fixture.wait_for_it();
    fixture.advance(5s);
    fixture.node(1).becomes(node_state::down, "lost", asio::error::connection_reset);
    fixture.run_until_idle();

    fixture.node(1).becomes(node_state::ready);
    fixture.give_back(0, 5);

    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace queues_tests
