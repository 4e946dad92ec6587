// usage: redlock_try_lock URL,URL,...
//
// Many servers notice that the prices in a cache are old, and one is enough to fetch new ones.
// Whoever comes first does it. The others go on with what they have, and wait for nobody.

#include "program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> fetch_prices()
{
    std::cout << "fetching the prices\n";
    co_return;
}

asio::awaitable<void> refresh_cache(redlock::client& locks)
{
    // A trial makes one round, and waits for a connection no longer than `node_timeout`. So let
    // the connections come about first, once in the life of the program.
    co_await locks.async_wait_ready(asio::cancel_after(5s));

    // Empty if somebody else has it, which is no error. Nodes that do not answer are one.
    auto held = co_await locks.async_try_acquire("cache:prices", 10s);
    if (!held)
    {
        std::cout << "somebody else fetches the prices\n";
        co_return;
    }
    co_await fetch_prices();
    co_await held.async_release();
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, refresh_cache);
}
