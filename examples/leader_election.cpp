// usage: redlock_leader_election URL,URL,...
//
// Of several of these programs one leads. Kill it, and another one does within a ttl. End it with
// SIGTERM or Ctrl-C, and another one does at once.

#include "program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// snippet: lead
/// What only the leader does. Ends when it is cancelled, with the leadership.
asio::awaitable<void> lead(redlock::lease& held)
{
    // Each leader has a higher token than the one before. Hand it to what the leader changes.
    std::cout << "leading, token " << held.fence() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (;;)
    {
        next.expires_after(1s);
        co_await next.async_wait();
    }
}
// end snippet

// snippet: close_on_signal
/// Gives up the leadership in good order: `lead` is cancelled, and the resource released.
asio::awaitable<void> close_on_signal(redlock::client& locks)
{
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait();
    co_await locks.async_close();
}
// end snippet

// snippet: stand_for_election
asio::awaitable<void> stand_for_election(redlock::client& locks)
{
    // Leads for as long as it lives, so neither the wait nor the hold has a limit.
    const redlock::acquire_options options{
        .ttl = 3s, .wait = redlock::forever, .hold_max = redlock::forever};
    asio::co_spawn(co_await asio::this_coro::executor, close_on_signal(locks), asio::detached);
    for (;;)
    {
        try
        {
            co_await redlock::with_lock(locks, "shop:leader", options, lead);
        }
        catch (const boost::system::system_error& failure)
        {
            if (failure.code() == asio::error::operation_aborted)
                co_return;  // The client closes.
            if (failure.code() != redlock::error::lease_lost)
                throw;
            std::cout << "no longer leading" << std::endl;
        }
    }
}
// end snippet

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, stand_for_election);
}
