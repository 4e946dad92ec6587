// Step 8: a process dies with its lease.

#include "holder.hpp"
#include "narrator.hpp"
#include "story.hpp"

#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <string>

namespace demo {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

asio::awaitable<void> holder_killed(stage& on)
{
    headline(8, "A process is killed while it holds orders:42 for " + in_ms(holder_ttl));

    holder_process holder(co_await asio::this_coro::executor, on.node_urls);
    const redlock::time_point valid_until = co_await holder.until_holding();
    const auto killed_at = steady_clock::now();
    fact(
        killed_at < valid_until,
        "process " + std::to_string(holder.pid()) + " holds it for another " +
            in_ms(valid_until - killed_at) + ", and is killed with SIGKILL"
    );
    holder.kill();

    auto held = co_await on.second.async_acquire("orders:42", lock_ttl);
    const auto taken_over_at = steady_clock::now();

    fact(
        taken_over_at - killed_at < holder_ttl + 5s,
        "the second client takes over " + in_ms(taken_over_at - killed_at) + " later"
    );
    fact(
        taken_over_at >= valid_until,
        "that is " + in_ms(taken_over_at - valid_until) + " after the dead process's lease ended"
    );
    co_await held.async_release();
}

}  // namespace demo
