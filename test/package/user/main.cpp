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

int main(int, char** arguments)
{
    asio::io_context context{1};
    redlock::client locks(context, {.nodes = redlock::parse_nodes(arguments[1])});
    locks.async_run(asio::detached);
    asio::co_spawn(context, ship_order(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}
