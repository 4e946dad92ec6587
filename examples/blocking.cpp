// usage: redlock_blocking URL,URL,...
//
// Locks in a program without coroutines and without Boost.Asio.

#include <redlock/blocking.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

// snippet: blocking
void ship_orders(redlock::blocking::client& locks)
{
    // Waits up to 10 s for the lock. The lease is extended until the body returns.
    const int boxes = locks.with_lock("orders:42", 2s, [](redlock::blocking::lease& held) {
        int packed = 0;
        while (packed < 3 && !held.expired())
        {
            std::this_thread::sleep_for(1s);
            std::cout << "box " << ++packed << std::endl;
        }
        return packed;
    });
    std::cout << "shipped " << boxes << " boxes\n";

    // Does not wait.
    if (redlock::blocking::lease held = locks.try_acquire("invoices:42", 10s))
    {
        std::cout << "printed the invoice\n";
        held.release();
    }
}
// end snippet

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        redlock::blocking::client locks({
            .nodes = redlock::parse_nodes(argc > 1 ? argv[1] : "redis://127.0.0.1:6379"),
        });
        ship_orders(locks);
        return 0;
    }
    catch (const std::exception& error)  // A URL that cannot be read, or no lease.
    {
        std::cerr << argv[0] << ": " << error.what() << '\n';
        return 1;
    }
}
