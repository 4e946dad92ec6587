// usage: 6_leader URL,URL,...
//
// Of several of these programs one leads. Kill it, and another one leads within a ttl.
// End it with Ctrl-C or SIGTERM, and another one leads at once.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// What only the leader does. It ends with the term, by cancellation.
asio::awaitable<void> work(redlock::term& now)
{
    // Each term has a higher number than the one before. It is a token: see step 5.
    std::cout << "leading, term " << now.number() << std::endl;
    asio::steady_timer next(co_await asio::this_coro::executor);
    for (;;)
    {
        next.expires_after(1s);
        co_await next.async_wait(asio::deferred);
    }
}

/// Shows what the client waits for, such as a node that is down.
void print_trouble(redlock::log_level level, std::string_view line)
{
    if (level != redlock::log_level::info)
        std::cerr << line << '\n';
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, {.nodes = redlock::parse_nodes(nodes), .log = print_trouble});
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
