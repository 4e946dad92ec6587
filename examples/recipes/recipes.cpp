// The recipes of examples/recipes/README.md that are C++. Compiled, not run.

#include <redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace recipes {

asio::awaitable<bool> is_done(std::string job);
asio::awaitable<void> mark_done(std::string job, redlock::fencing_token by);
asio::awaitable<void> work(redlock::lease& held);

// snippet: done_mark
asio::awaitable<void> do_once(redlock::client& locks, std::string job)
{
    const auto body = [&job](redlock::lease& held) -> asio::awaitable<void> {
        if (co_await is_done(job))
            co_return;
        co_await work(held);
        co_await mark_done(job, held.fence());
    };
    co_await redlock::with_lock(locks, job, {.ttl = 10s, .wait = 1min}, body);
}
// end snippet

// snippet: time_limit
asio::awaitable<void> answer_within_two_seconds(redlock::client& locks)
{
    const auto executor = co_await asio::this_coro::executor;
    // Cancels the wait or the work, and releases the lock.
    co_await asio::co_spawn(
        executor,
        redlock::with_lock(locks, "orders:42", {.ttl = 10s}, work),
        asio::cancel_after(2s, asio::use_awaitable)
    );
}
// end snippet

}  // namespace recipes
