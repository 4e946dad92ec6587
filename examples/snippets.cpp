// The regions that pages in docs/ quote by name. Compiled with the examples, not run.

#include <redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace snippets {

void ship_now(int order, redlock::time_point deadline);

asio::awaitable<void> wait_limit(redlock::client& locks)
{
    // snippet: wait_limit
    auto held = co_await locks.async_acquire("orders:42", {.ttl = 30s, .wait = 2s});
    // end snippet
}

asio::awaitable<void> report(redlock::client& locks)
{
    // snippet: report
    redlock::diagnostics report;
    auto [ec, held] =
        co_await locks.async_acquire("orders:42", {.ttl = 10s, .report = &report}, asio::as_tuple);
    if (ec)
        std::cerr << ec.message() << " after " << report.rounds << " rounds; " << report << '\n';
    // end snippet
}

asio::awaitable<void> auto_extend(redlock::client& locks)
{
    // snippet: auto_extend
    auto held = co_await locks.async_acquire("orders:42", {.ttl = 10s, .auto_extend = true});
    // end snippet
}

void wait_lost(redlock::lease& held, std::shared_ptr<std::atomic<bool>> stop)
{
    // snippet: wait_lost
    held.async_wait_lost([stop](redlock::error_code lost) {
        if (lost)  // Empty: released, not lost.
            stop->store(true);
    });
    // end snippet
}

asio::awaitable<void> owners(redlock::client& locks)
{
    // snippet: owners
    const redlock::acquire_options ours{.owner = redlock::owner(4711)};
    auto outer = co_await locks.async_acquire("orders:42", ours);
    auto inner = co_await locks.async_acquire("orders:42", ours);  // Does not wait for `outer`.
    co_await inner.async_release();                                // still_held
    co_await outer.async_release();                                // released
    // end snippet
}

// snippet: on_overrun
std::atomic<bool> stop_now = false;  // Your function checks it between steps.

void tell_the_function(const redlock::overrun&) noexcept
{
    stop_now = true;
}
// end snippet

asio::awaitable<void> revoke(redlock::client& locks)
{
    // snippet: revoke
    const redlock::holding seen = co_await locks.async_inspect("orders:42");
    const redlock::revocation made = co_await locks.async_revoke("orders:42", seen.token);
    // Free once the holder has stopped, at made.until at the latest, unless at_least keeps it.
    auto held = co_await locks.async_acquire("orders:42", 10s);
    // end snippet
    static_cast<void>(made);
}

asio::awaitable<void> inspect(redlock::client& locks)
{
    // snippet: inspect
    const redlock::holding seen = co_await locks.async_inspect("orders:42");
    std::cout << seen.state << ' ' << seen.note << ", token " << seen.token << ", "
              << seen.remaining.count() << " ms left, " << seen.waiting << " wait\n";
    // end snippet
}

// snippet: watch
asio::awaitable<void> tell_who_leads(redlock::client& locks)
{
    redlock::watcher leaders = locks.watch("shop:leader");
    for (;;)
    {
        const redlock::holding now = co_await leaders.async_next();
        if (now.state == redlock::holding_state::held)
            std::cout << now.note << " leads, term " << now.token << std::endl;
        else
            std::cout << "nobody is known to lead" << std::endl;
    }
}
// end snippet

asio::awaitable<void> cancel_after(redlock::client& locks)
{
    // snippet: cancel_after
    auto [ec, held] =
        co_await locks.async_acquire("orders:42", 10s, asio::cancel_after(500ms, asio::as_tuple));
    if (ec == asio::error::operation_aborted)
        std::cerr << "not within 500 ms\n";
    // end snippet
}

redlock::client_config config()
{
    // snippet: config
    const char* const password = std::getenv("REDIS_PASSWORD");
    redlock::client_config config;
    for (const char* host : {"redis-a.example", "redis-b.example", "redis-c.example"})
    {
        redlock::node_config node;
        node.host = host;
        node.port = 6380;
        node.username = "locks";
        node.password = password != nullptr ? password : "";
        node.tls = redlock::tls_config{.ca_file = "/etc/ssl/redis/ca.pem"};
        config.nodes.push_back(node);
    }
    config.node_timeout = 100ms;
    config.key_prefix = "shop:";
    config.log = [](redlock::log_level level, std::string_view line) {
        if (level != redlock::log_level::info)
            std::cerr << "redlock: " << line << '\n';
    };
    // end snippet
    return config;
}

std::string read_password();

redlock::client_config rotated_password()
{
    redlock::client_config config;
    redlock::node_config node;
    // snippet: ask_credentials
    node.ask_credentials = [](auto handler) {
        std::move(handler)(redlock::error_code(), redlock::credentials{"locks", read_password()});
    };
    // end snippet
    config.nodes.push_back(node);
    return config;
}

void callbacks(redlock::client& locks)
{
    // snippet: callbacks
    locks.async_acquire("orders:42", 10s, [](redlock::error_code ec, redlock::lease held) {
        if (ec)
            std::cerr << ec.message() << '\n';
        else
            ship_now(42, held.valid_until());
        // Here the lease goes out of scope, and is released in the background.
    });
    // end snippet
}

void futures(redlock::client& locks)
{
    // snippet: futures
    // In a thread that does not run the io_context.
    std::future<redlock::lease> acquired = locks.async_acquire("orders:42", 10s, asio::use_future);
    redlock::lease held = acquired.get();  // Throws what co_await would throw.
    ship_now(42, held.valid_until());
    held.async_release(asio::use_future).get();
    // end snippet
}

}  // namespace snippets
