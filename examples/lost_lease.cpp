// usage: redlock_lost_lease URL,URL,...
//
// Holds a lease as long as it can, and stops working when the lease is lost. `with_lock` does the
// same for one function; this is for a lease that outlives a function.

#include "program.hpp"

#include <boost/asio/experimental/parallel_group.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// Runs until it is cancelled.
asio::awaitable<void> take_orders(const redlock::lease& held)
{
    std::cout << "the till is open, token " << held.fence() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (int orders = 0;;)
    {
        next.expires_after(500ms);
        co_await next.async_wait();
        // The clock knows first. Check it before each step that can't be undone.
        if (!held.expired())
            std::cout << "order " << ++orders << std::endl;
    }
}

asio::awaitable<void> keep_the_till(redlock::client& locks)
{
    auto held = co_await locks.async_acquire("shop:till", {.ttl = 3s, .auto_extend = true});

    // Whichever ends first cancels the other. Not `||`: that waits for a success, not a loss.
    const auto executor = co_await asio::this_coro::executor;
    auto race = asio::experimental::make_parallel_group(
        held.async_wait_lost(asio::deferred),
        asio::co_spawn(executor, take_orders(held), asio::deferred)
    );
    const asio::experimental::wait_for_one first;
    const auto outcome = co_await race.async_wait(first, asio::deferred);
    const auto& [order, lost, failure] = outcome;
    if (order[0] == 1)  // The orders ended first, which takes an exception.
        std::rethrow_exception(failure);

    std::cout << "the till is closed: " << lost.message() << '\n';
    // Empty: no extension was due before. Otherwise what the nodes said the last time.
    if (const redlock::error_code last = held.last_extension())
        std::cout << "the last extension: " << last.message() << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, keep_the_till);
}
