// usage: redlock_futures URL,URL,...
//
// Uses locks from code that blocks, while another thread runs the client.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <future>
#include <iostream>
#include <thread>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

void ship_order(redlock::client& locks)
{
    const redlock::acquire_options options{.ttl = 2s, .auto_extend = true};
    std::future<redlock::lease> acquired =
        locks.async_acquire("orders:42", options, asio::use_future);
    std::cout << "printing the label while we wait\n";
    redlock::lease held = acquired.get();  // Throws what co_await would throw.

    std::future<void> lost = held.async_wait_lost(asio::use_future);
    for (int box = 1; box <= 3; ++box)
    {
        // Each box takes a second, unless the lease is lost before.
        if (lost.wait_for(1s) == std::future_status::ready)
            lost.get();  // Throws why.
        std::cout << "box " << box << std::endl;
    }
    const auto outcome = held.async_release(asio::use_future).get();
    std::cout << "shipped, " << to_string(outcome) << '\n';
}

/// @return The exit status.
int run(const char* nodes)
{
    asio::io_context context;
    redlock::client locks(context, {.nodes = redlock::parse_nodes(nodes)});
    locks.async_run(asio::detached);
    std::thread network([&context] { context.run(); });

    int status = 0;
    try
    {
        ship_order(locks);
    }
    catch (const std::exception& error)
    {
        std::cerr << "not shipped: " << error.what() << '\n';
        status = 1;
    }
    locks.cancel();  // Lets the context run out of work, so the thread ends.
    network.join();
    return status;
}

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        return run(argc > 1 ? argv[1] : "redis://127.0.0.1:6379");
    }
    catch (const std::exception& error)  // An invalid URL.
    {
        std::cerr << argv[0] << ": " << error.what() << '\n';
        return 1;
    }
}
