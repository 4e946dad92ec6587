// usage: first_look URL,URL,...
//
// The program of README.md.

// snippet: with_lock
#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;

// Runs while the lock is held. If the lock is lost, it is cancelled.
asio::awaitable<void> ship_order(redlock::lease& held)
{
    std::cout << "shipping orders:42 with token " << held.fence() << '\n';
    co_return;
}
// end snippet

// snippet: main
int main(int argc, char** argv)
{
    asio::io_context context;
    redlock::client locks(context, argc == 2 ? argv[1] : "");
    locks.async_run(asio::detached);
    auto shipping = redlock::with_lock(locks, "orders:42", ship_order);
    asio::co_spawn(context, std::move(shipping), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}
// end snippet
