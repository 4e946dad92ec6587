// Steps 0 to 4: two clients, one resource, all nodes up.

#include "narrator.hpp"
#include "story.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace demo {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

/// Keeps a lease for a while and releases it. Returns when the release began.
asio::awaitable<redlock::time_point> release_after(redlock::milliseconds pause, redlock::lease held)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, pause);
    co_await timer.async_wait();
    const redlock::time_point released_at = steady_clock::now();
    co_await held.async_release();
    co_return released_at;
}

}  // namespace

asio::awaitable<void> everybody_connects(stage& on)
{
    headline(0, "Two clients connect to five independent Redis servers");

    std::string ports;
    for (const auto& server : on.servers)
        ports += ' ' + std::to_string(server.port());
    fact(on.servers.size() == 5, "the servers listen on the loopback ports" + ports);
    co_await set_up(on);
    fact(true, "they are new, so they are initialized and vote right away");
    const bool ready = co_await all_ready(on.first, 10s) && co_await all_ready(on.second, 10s);
    fact(ready, "both clients are connected to all of them");
}

asio::awaitable<redlock::lease> first_lock(stage& on)
{
    headline(1, "The first client acquires orders:42 for " + in_ms(lock_ttl));

    const auto start = steady_clock::now();
    auto held = co_await on.first.async_acquire("orders:42", lock_ttl);
    const auto taken = steady_clock::now() - start;

    fact(!held.expired(), "the lease was granted in " + in_ms(taken));
    const auto left = held.valid_until() - steady_clock::now();
    fact(
        left > 0s && left < lock_ttl,
        "valid_until() is " + in_ms(left) + " from now, clock drift subtracted"
    );
    const stored_keys keys = read_keys(on.servers, "orders:42");
    fact(
        keys.count >= 3 && keys.all_equal,
        std::to_string(keys.count) + " of 5 nodes have the key orders:42, with the value " +
            keys.value.substr(0, 8) + "... for another " + in_ms(keys.ttl)
    );
    co_return held;
}

asio::awaitable<void> second_client_denied(stage& on)
{
    headline(2, "The second client tries to acquire it, and is denied");

    redlock::diagnostics report;
    const auto none =
        co_await on.second.async_try_acquire("orders:42", {.ttl = lock_ttl, .report = &report});

    fact(!none, "it gets an empty lease, which isn't an error");
    const auto denied =
        std::ranges::count(report.votes, redlock::vote::denied, &redlock::node_vote::vote);
    fact(denied >= 3, std::to_string(denied) + " of 5 nodes denied it:");
    print_votes(report);
}

asio::awaitable<redlock::lease> second_client_waits(stage& on, redlock::lease held_by_first)
{
    headline(3, "The second client waits until the first one releases");

    using namespace asio::experimental::awaitable_operators;
    const auto start = steady_clock::now();
    auto outcome = co_await (
        release_after(300ms, std::move(held_by_first)) &&
        on.second.async_acquire("orders:42", {.ttl = lock_ttl, .wait = 5s}, asio::use_awaitable)
    );
    const auto end = steady_clock::now();

    auto& [released_at, held] = outcome;
    fact(
        !held.expired() && end - start >= 300ms, "it waited for " + in_ms(end - start) + " in total"
    );
    fact(
        end - released_at < 4s,
        "it got the lease " + in_ms(end - released_at) + " after the release"
    );
    co_return std::move(held);
}

asio::awaitable<void> extend(redlock::lease& held)
{
    headline(4, "The second client extends its lease to " + in_ms(2 * lock_ttl) + " from now");

    const auto before = held.remaining();
    co_await held.async_extend(2 * lock_ttl);
    const auto after = held.remaining();

    fact(before > 0ms && before < lock_ttl, "before: " + in_ms(before) + " remaining");
    fact(after > lock_ttl && after < 2 * lock_ttl, "after: " + in_ms(after) + " remaining");
}

}  // namespace demo
