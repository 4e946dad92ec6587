// What the pages in docs/ quote, each region under its name. Compiled with the examples, not run.

#include <redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace snippets {

asio::awaitable<void> ship(int order);
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

asio::awaitable<void> report_by_node(const redlock::diagnostics& report)
{
    // snippet: report_by_node
    for (const redlock::node_vote& from : report.votes)
    {
        if (from.vote == redlock::vote::unknown)
            std::cerr << from.node << ": " << to_string(from.reason) << '\n';
    }
    // end snippet
    co_return;
}

asio::awaitable<void> extend(redlock::lease held)
{
    // snippet: extend
    for (int order = 1; order <= 1000; ++order)
    {
        if (held.remaining() < 5s)
            co_await held.async_extend(10s);  // Throws if it fails.
        co_await ship(order);
    }
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
        if (lost)  // Empty: released, and not lost.
            stop->store(true);
    });
    // end snippet
}

asio::awaitable<void> ship_under(redlock::lease& held);

void with_lock_token(asio::io_context& context, redlock::client& locks)
{
    // snippet: with_lock_token
    asio::co_spawn(
        context,
        redlock::with_lock(locks, "orders:42", {.ttl = 10s}, ship_under),
        [](std::exception_ptr failure) { std::cout << (failure ? "failed\n" : "shipped\n"); }
    );
    // end snippet
}

asio::awaitable<void> ship_slowly(redlock::lease& held);

asio::awaitable<void> stop_before(redlock::client& locks)
{
    // snippet: stop_before
    // Stops 3 s before the deadline if no extension has moved it: before the next holder starts.
    co_await redlock::with_lock(locks, "orders:42", {.ttl = 10s, .stop_before = 3s}, ship_slowly);
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

// snippet: observer
class loss_log final : public redlock::observer
{
    void on_lost(const redlock::lost_event& event) noexcept override
    {
        std::cerr << event.resource << ": " << event.code.message() << ", after "
                  << event.because.message() << '\n';
    }
};
// end snippet

redlock::client_config observed(redlock::client_config config)
{
    // snippet: observed
    config.observer = std::make_shared<loss_log>();
    // end snippet
    return config;
}

void metrics(const redlock::client& locks)
{
    // snippet: metrics
    const redlock::metrics now = locks.metrics();
    std::cout << now.held << " held, " << now.lost << " lost, " << now.extensions_failed
              << " extensions failed\n";
    // end snippet
}

// snippet: on_overrun
std::atomic<bool> stop_now = false;  // The function looks at it between two steps.

void tell_the_function(const redlock::overrun&) noexcept
{
    stop_now = true;
}
// end snippet

asio::awaitable<void> work(redlock::term& now);

asio::awaitable<void> lead_with_metrics(redlock::client& locks, redlock::lead_metrics& counts)
{
    // snippet: lead_options
    const redlock::lead_options options{
        .ttl = 3s, .on_overrun = tell_the_function, .metrics = &counts
    };
    co_await redlock::lead(locks, "shop:leader", options, work);
    // end snippet
}

asio::awaitable<void> announce(redlock::term& now)
{
    // snippet: announce
    co_await now.async_announce("shard 7, 40 % done");
    // end snippet
}

asio::awaitable<void> revoke(redlock::client& locks)
{
    // snippet: grace
    // If this holder is lost, nobody is granted "orders:42" for 5 s after its deadline.
    co_await redlock::with_lock(locks, "orders:42", {.ttl = 10s, .grace = 5s}, ship_slowly);
    // end snippet

    // snippet: free
    co_await locks.async_free("report");  // Only if it is kept. A holder is not disturbed.
    // end snippet

    // snippet: revoke
    const redlock::holding seen = co_await locks.async_inspect("orders:42");
    const redlock::revocation made = co_await locks.async_revoke("orders:42", seen.token);
    // It becomes free when the holder has stopped, or at made.until, unless its release keeps it.
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

void lead_metrics(const redlock::lead_metrics& counts)
{
    // snippet: lead_metrics
    if (counts.leading())
        std::cout << "leads for " << counts.led_for().count() << " ms, in term " << counts.terms
                  << " of this process; " << counts.losses << " lost\n";
    // end snippet
}

asio::awaitable<void> cancel_after(redlock::client& locks)
{
    // snippet: cancel_after
    auto [ec, held] =
        co_await locks.async_acquire("orders:42", 10s, asio::cancel_after(500ms, asio::as_tuple));
    if (ec == asio::error::operation_aborted)
        std::cerr << "not within 500 ms\n";
    // end snippet
}

asio::awaitable<void> conditions(redlock::client& locks)
{
    // snippet: conditions
    auto [ec, held] = co_await locks.async_acquire("orders:42", 10s, asio::as_tuple);
    if (!ec)
        co_await ship(42);
    else if (ec == redlock::condition::nodes_unavailable)
        std::cerr << "call an operator: " << ec.message() << '\n';
    else if (ec == redlock::condition::not_acquired)
        std::cerr << "come back later: " << ec.message() << '\n';
    else
        throw boost::system::system_error(ec);
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

redlock::client_config client_certificate()
{
    redlock::client_config config;
    redlock::node_config node;
    // snippet: client_certificate
    node.tls.emplace();
    node.tls->ca_file = "/etc/ssl/redis/ca.pem";
    node.tls->cert_file = "/etc/ssl/redis/client.pem";
    node.tls->key_file = "/etc/ssl/redis/client.key";
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

// snippet: initialize
int initialize(std::string_view nodes)
{
    boost::asio::io_context context;
    redlock::diagnostics report;
    redlock::error_code outcome;
    redlock::async_initialize_nodes(
        context,
        {.nodes = redlock::parse_nodes(nodes)},
        &report,
        [&outcome](redlock::error_code ec) { outcome = ec; }
    );
    context.run();

    std::cout << (outcome ? outcome.message() : "the nodes may vote") << "\n" << report << "\n";
    return outcome ? 1 : 0;
}
// end snippet

}  // namespace snippets
