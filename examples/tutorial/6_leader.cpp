// usage: 6_leader URL,URL,...
//
// Of several of these programs one leads. Kill it, and another one leads within a ttl.
// End it with Ctrl-C or SIGTERM, and another one leads at once.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// What only the leader does. It ends with the leadership, by cancellation.
asio::awaitable<void> lead(redlock::lease& held)
{
    // Each leader has a higher token than the one before: see step 5.
    std::cout << "leading, token " << held.fence() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (;;)
    {
        next.expires_after(1s);
        co_await next.async_wait(asio::deferred);
    }
}

// snippet: stand_for_election
asio::awaitable<void> stand_for_election(redlock::client& locks)
{
    // Leads for as long as it lives, so neither the wait nor the hold has a limit.
    const redlock::acquire_options options{
        .ttl = 3s, .wait = redlock::forever, .hold_max = redlock::forever
    };
    for (;;)
    {
        try
        {
            co_await redlock::with_lock(locks, "shop:leader", options, lead);
        }
        catch (const boost::system::system_error& failure)
        {
            if (failure.code() == asio::error::operation_aborted ||
                failure.code() == redlock::error::not_running)
                co_return;  // The client closes, or has closed.
            if (failure.code() != redlock::error::lease_lost)
                throw;
            std::cout << "no longer leading" << std::endl;
        }
    }
}
// end snippet

/// Shows what the client waits for, such as a node that is down.
void print_trouble(redlock::log_level level, std::string_view line)
{
    if (level != redlock::log_level::info)
        std::cerr << line << '\n';
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, {.nodes = redlock::parse_nodes(nodes), .log = print_trouble});
    locks.async_run(asio::detached);
    asio::co_spawn(context, stand_for_election(locks), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });

    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](redlock::error_code, int) {
        signals.clear();
        std::cout << "closing" << std::endl;
        locks.async_close(asio::detached);
    });
    context.run();
}

int main(int argc, char** argv)
{
    try
    {
        if (argc != 2)
            throw std::invalid_argument("name the nodes: redis://HOST:PORT,...");
        run(argv[1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << "6_leader: " << error.what() << '\n';
        return 1;
    }
}
