// Shows what redlock does and checks it, step by step. Read story.hpp next.

#include "holder.hpp"
#include "narrator.hpp"
#include "performance.hpp"
#include "story.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;

constexpr std::string_view usage =
    "usage: redlock_demo [--help]\n"
    "\n"
    "Starts five Redis servers on free loopback ports, shows what two clients do with them, and\n"
    "stops them. Takes a few seconds. Exits with 1 if a step doesn't end as expected.\n";

asio::awaitable<void> tell_story()
{
    const auto start = std::chrono::steady_clock::now();
    demo::stage on(co_await asio::this_coro::executor);
    co_await demo::everybody_connects(on);

    auto held = co_await demo::first_lock(on);
    co_await demo::second_client_denied(on);
    held = co_await demo::second_client_waits(on, std::move(held));
    co_await demo::extend(held);
    co_await demo::two_nodes_killed(on, std::move(held));
    co_await demo::third_node_killed(on);
    co_await demo::nodes_back(on);
    co_await demo::holder_killed(on);

    const auto taken = std::chrono::steady_clock::now() - start;
    std::cout << "\nEvery step ended as expected, in " << demo::in_ms(taken) << '.' << std::endl;
}

/// The servers are stopped, and their folders removed, when the coroutine is destroyed.
int run_story()
{
    demo::performance show;
    const int caught = show.run(tell_story());
    if (caught == 0)
        return 0;
    std::cerr << "\nredlock_demo: interrupted, the servers are stopped" << std::endl;
    return 128 + caught;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string_view option = argc > 1 ? argv[1] : "";
    if (option == "--help")
    {
        std::cout << usage;
        return 0;
    }
    try
    {
        if (option == "--hold" && argc == 3)  // Step 8 starts this program once more.
            return demo::hold(argv[2]);
        if (argc == 1)
            return run_story();
    }
    catch (const std::exception& error)
    {
        std::cerr << "\nredlock_demo: " << error.what() << std::endl;
        return 1;
    }
    std::cerr << usage;
    return 2;
}
