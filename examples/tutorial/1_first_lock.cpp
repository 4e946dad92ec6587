// usage: 1_first_lock URL,URL,...
//
// Holds a lock for a moment and releases it.

// snippet: first_lock
#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> ship_order(redlock::client& locks)
{
    auto held = co_await locks.async_acquire("orders:42", 10s);
    std::cout << held.resource() << " is ours for " << held.remaining().count() << " ms\n";
    co_await held.async_release();
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    asio::co_spawn(context, ship_order(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}
// end snippet

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
        std::cerr << "1_first_lock: " << error.what() << '\n';
        return 1;
    }
}
