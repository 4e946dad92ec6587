// usage: redlock_lost_lease URL,URL,...
//
// Holds a lease for as long as it can, and stops what it does when the lease is lost. `with_lock`
// does the same for the length of one function; this is for a lease that lives longer than that.

#include "program.hpp"

#include <boost/asio/experimental/parallel_group.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// Goes on until it is cancelled.
asio::awaitable<void> take_orders(const redlock::lease& held)
{
    std::cout << "the till is open, token " << held.fence() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (int orders = 0;;)
    {
        next.expires_after(500ms);
        co_await next.async_wait();
        // The clock knows first. Ask it before each step that cannot be undone.
        if (!held.expired())
            std::cout << "order " << ++orders << std::endl;
    }
}

asio::awaitable<void> keep_the_till(redlock::client& locks)
{
    auto held = co_await locks.async_acquire("shop:till", {.ttl = 3s, .auto_extend = true});

    // snippet: wait_lost
    // What ends first cancels the other. Not `||`: that waits for a success, and a loss is none.
    const auto executor = co_await asio::this_coro::executor;
    auto race = asio::experimental::make_parallel_group(
        held.async_wait_lost(asio::deferred),
        asio::co_spawn(executor, take_orders(held), asio::deferred)
    );
    const asio::experimental::wait_for_one first;
    const auto outcome = co_await race.async_wait(first, asio::deferred);
    const auto& [order, lost, failure] = outcome;
    if (order[0] == 1)  // The orders ended first, which they do by an exception only.
        std::rethrow_exception(failure);
    // end snippet

    // snippet: why_lost
    std::cout << "the till is closed: " << lost.message() << '\n';
    // Empty: nobody had to extend before. Else what the nodes said the last time.
    if (const redlock::error_code last = held.last_extension())
        std::cout << "the last extension: " << last.message() << '\n';
    // end snippet
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, keep_the_till);
}
