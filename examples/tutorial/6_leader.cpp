// usage: 6_leader URL,URL,...
//
// Start several of these: one leads. Kill it, and another leads within a ttl.
// Stop it with Ctrl-C or SIGTERM, and another leads at once.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// snippet: work
/// What only the leader does. It is cancelled when the term ends.
asio::awaitable<void> work(redlock::term& now)
{
    // The number is the fencing token: see step 5.
    std::cout << "leading, term " << now.number() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (;;)
    {
        next.expires_after(1s);
        co_await next.async_wait(asio::deferred);
    }
}
// end snippet

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    // snippet: lead
    auto leads = redlock::lead(locks, "shop:leader", {.ttl = 3s}, work);
    asio::co_spawn(context, std::move(leads), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    // end snippet

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
