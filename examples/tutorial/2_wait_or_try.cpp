// usage: 2_wait_or_try URL,URL,...
//
// Two ways to ask for a lock that someone else may hold, and the errors to handle.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// snippet: ask
/// The order must ship, so this waits up to 2 s for the lock.
asio::awaitable<void> ship_order(redlock::client& locks)
{
    auto held = co_await locks.async_acquire("orders:42", {.ttl = 10s, .wait = 2s});
    std::cout << "order 42: shipping\n";
    std::cout << "order 42: " << to_string(co_await held.async_release()) << '\n';
}

/// Anyone may print the invoice, so this does not wait.
asio::awaitable<void> print_invoice(redlock::client& locks)
{
    auto held = co_await locks.async_try_acquire("invoices:42", 10s);
    if (!held)
    {
        std::cout << "invoice 42: someone else prints it\n";
        co_return;
    }
    std::cout << "invoice 42: printing\n";
    co_await held.async_release();
}

asio::awaitable<void> work(redlock::client& locks)
{
    try
    {
        co_await ship_order(locks);
        co_await print_invoice(locks);
    }
    catch (const boost::system::system_error& failure)
    {
        if (failure.code() == redlock::condition::nodes_unavailable)
            std::cout << "call an operator: " << failure.code().message() << '\n';
        else if (failure.code() == redlock::condition::not_acquired)
            std::cout << "come back later: " << failure.code().message() << '\n';
        else
            throw;
    }
}
// end snippet

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, {.nodes = redlock::parse_nodes(nodes), .node_timeout = 200ms});
    locks.async_run(asio::detached);
    asio::co_spawn(context, work(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
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
        std::cerr << "2_wait_or_try: " << error.what() << '\n';
        return 1;
    }
}
