// Steps 5 to 7: nodes die and come back.

#include "narrator.hpp"
#include "story.hpp"

#include <boost/asio/as_tuple.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace demo {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

/// The median duration of acquiring a free resource and releasing it.
asio::awaitable<steady_clock::duration> median_latency(redlock::client& locks)
{
    std::vector<steady_clock::duration> taken(200);
    for (auto& each : taken)
    {
        const auto start = steady_clock::now();
        auto held = co_await locks.async_acquire("orders:43", lock_ttl);
        co_await held.async_release();
        each = steady_clock::now() - start;
    }
    const auto middle = taken.begin() + taken.size() / 2;
    std::ranges::nth_element(taken, middle);
    co_return *middle;
}

}  // namespace

asio::awaitable<void> two_nodes_killed(stage& on, redlock::lease held_by_second)
{
    headline(5, "Two of the five nodes are killed");

    const auto before = co_await median_latency(on.first);
    on.servers[0].kill();
    on.servers[1].kill();
    const auto after = co_await median_latency(on.first);

    fact(before > 0ms, "before, acquire and release took " + in_ms(before) + " (median of 200)");
    // Waiting for a dead node would cost `node_timeout`, 500 ms. The limit leaves room for a
    // machine that is busy with other things.
    const std::string percent = std::to_string(100 * after / before) + " %";
    fact(
        after <= std::max<steady_clock::duration>(3 * before, 10ms),
        "now they take " + in_ms(after) + ", which is " + percent
    );

    co_await held_by_second.async_extend(2 * lock_ttl);
    fact(!held_by_second.expired(), "the three nodes that are left extend the earlier lease");
    const auto none = co_await on.first.async_try_acquire("orders:42", lock_ttl);
    fact(!none, "it still keeps the first client out");
    const auto outcome = co_await held_by_second.async_release();
    fact(outcome == redlock::release_outcome::released, "it is released");
}

asio::awaitable<void> third_node_killed(stage& on)
{
    headline(6, "A third node is killed, and no quorum is left");

    on.servers[2].kill();
    redlock::diagnostics report;
    const redlock::acquire_options options{.ttl = lock_ttl, .wait = 500ms, .report = &report};
    const auto start = steady_clock::now();
    const auto outcome = co_await on.first.async_acquire("orders:42", options, asio::as_tuple);
    const auto taken = steady_clock::now() - start;

    const auto& [ec, none] = outcome;
    fact(
        ec == redlock::error::quorum_unreachable && !none,
        "acquiring fails with quorum_unreachable: " + ec.message()
    );
    fact(taken < 5s, "it failed after " + in_ms(taken) + ", because wait was 500 ms");
    const auto failed =
        std::ranges::count(report.votes, redlock::vote::unknown, &redlock::node_vote::vote);
    fact(failed >= 3, "in the last round, " + std::to_string(failed) + " of 5 nodes failed:");
    print_votes(report);
}

asio::awaitable<void> nodes_back(stage& on)
{
    headline(7, "The three nodes come back, with empty memories");

    // Blocks this thread, so both clients too, until the servers answer: for demos only.
    for (const std::size_t node : {0, 1, 2})
        on.servers[node].start();
    const auto start = steady_clock::now();
    redlock::diagnostics report;
    const redlock::acquire_options options{.ttl = lock_ttl, .wait = 1s, .report = &report};
    const auto outcome = co_await on.first.async_acquire("orders:42", options, asio::as_tuple);
    const auto& [ec, none] = outcome;
    fact(
        ec == redlock::error::quarantined && !none,
        "they may have lost locks, so they don't vote for a while: " + ec.message()
    );
    print_votes(report);
    const bool ready = co_await all_ready(on.first, 15s) && co_await all_ready(on.second, 15s);
    const auto taken = steady_clock::now() - start;
    fact(
        ready && taken > 2 * lock_ttl - 1s,
        "after " + in_ms(taken) + ", longer than any lease, they all vote again"
    );

    auto held = co_await on.first.async_acquire("orders:42", lock_ttl);
    const stored_keys keys = read_keys(on.servers, "orders:42");
    fact(
        !held.expired() && keys.count >= 3,
        "orders:42 is acquired on " + std::to_string(keys.count) + " of 5 nodes"
    );
    co_await held.async_release();
}

}  // namespace demo
