// usage: 4_service URL,URL,...
//
// Counts two warehouses over and over, until SIGINT or SIGTERM. Run any number of these:
// only one at a time counts a warehouse.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> count(redlock::lease& held)
{
    std::cout << held.resource() << ": counting" << std::endl;
    asio::steady_timer work(co_await asio::this_coro::executor, 1s);
    co_await work.async_wait(asio::deferred);
    std::cout << held.resource() << ": counted" << std::endl;
}

// snippet: task
/// Runs until the client closes.
asio::awaitable<void> keep_counting(redlock::client& locks, std::string warehouse)
{
    for (;;)
    {
        try
        {
            const redlock::acquire_options options{.ttl = 3s, .wait = redlock::forever};
            co_await redlock::with_lock(locks, warehouse, options, count);
        }
        catch (const boost::system::system_error& failure)
        {
            // The client closes.
            if (failure.code() == asio::error::operation_aborted ||
                failure.code() == redlock::error::not_running)
                co_return;
            if (failure.code() != redlock::error::lease_lost)
                throw;
            std::cout << warehouse << ": lost, count again" << std::endl;
        }
    }
}
// end snippet

void rethrow(std::exception_ptr failure)
{
    if (failure)
        std::rethrow_exception(failure);
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    asio::co_spawn(context, keep_counting(locks, "north"), rethrow);
    asio::co_spawn(context, keep_counting(locks, "south"), rethrow);

    // snippet: close_on_signal
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](redlock::error_code, int) {
        signals.clear();  // A second Ctrl-C ends the program at once.
        std::cout << "closing" << std::endl;
        locks.async_close(asio::detached);
    });
    context.run();  // Returns when all tasks have ended and all locks are released.
    // end snippet
    std::cout << "closed\n";
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
        std::cerr << "4_service: " << error.what() << '\n';
        return 1;
    }
}
