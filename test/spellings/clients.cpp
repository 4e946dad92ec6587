#include <redlock.hpp>

#include "spellings/spellings.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using redlock::mode;

namespace spellings {

namespace {

/// Too long for the buffer that a string has inside, unlike `short_prefix`.
constexpr std::string_view long_prefix = "spellings-of-a-user-with-a-long-prefix:";
constexpr std::string_view short_prefix = "s:";

asio::awaitable<void> use(redlock::client& locks)
{
    auto held = co_await locks.async_try_acquire("used", 1s);
    require(static_cast<bool>(held), "a new client acquires");
    co_await held.async_release();
}

/// Runs the client for as long as `use` takes.
asio::awaitable<void> run_and_use(redlock::client locks)
{
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready();
    co_await use(locks);
    co_await locks.async_close();
}

}  // namespace

asio::awaitable<void> clients(std::string url)
{
    const auto executor = co_await asio::this_coro::executor;
    {
        redlock::client locks(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain}
        );
        co_await run_and_use(std::move(locks));
    }
    {
        int lines = 0;
        redlock::client locks(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url),
             .node_timeout = 100ms,
             .retry = {.max_delay = 10ms},
             .mode = mode::plain,
             .key_prefix = std::string(long_prefix),
             .log = [&lines](redlock::log_level, std::string_view) { ++lines; },
             .observer = std::make_shared<redlock::observer>()}
        );
        co_await run_and_use(std::move(locks));
        require(lines > 0, "the log of the configuration is called");
    }
    co_await run_and_use(redlock::client(
        executor, {.nodes = {1, redlock::parse_node(url)}, .mode = mode::plain, .key_prefix = "s:"}
    ));
    co_await run_and_use({executor, {.nodes = redlock::parse_nodes(url), .mode = mode::plain}});

    const auto made = std::make_unique<redlock::client>(
        co_await asio::this_coro::executor,
        redlock::client_config{.nodes = redlock::parse_nodes(url), .mode = mode::plain}
    );
    co_await run_and_use(std::move(*made));
}

asio::awaitable<void> configurations(std::string url)
{
    redlock::client_config config;
    config = {
        .nodes = redlock::parse_nodes(url),
        .node_timeout = redlock::milliseconds(co_await after_a_step(70)),
        .mode = mode::plain,
        .key_prefix = "s:",
    };
    require(config.nodes.size() == 1 && config.key_prefix == short_prefix, "config assigned");
    config.nodes.push_back({
        .host = "localhost",
        .port = static_cast<std::uint16_t>(co_await after_a_step(7)),
        .username = "someone whose name is too long for a small string",
        .tls = redlock::tls_config{.ca_file = "ca"},
    });
    config.nodes.pop_back();
    auto node = redlock::parse_node(url);
    node.tls = redlock::tls_config{.ca_file = "ca", .verify = co_await after_a_step(0) == 1};
    require(node.tls->ca_file == "ca", "tls assigned");
    node.tls.reset();
    config.nodes.assign(1, node);
    co_await run_and_use(redlock::client(co_await asio::this_coro::executor, config));
    co_await run_and_use({co_await asio::this_coro::executor, std::move(config)});
}

asio::awaitable<void> initializations(std::string url)
{
    const auto executor = co_await asio::this_coro::executor;
    redlock::diagnostics report;
    const auto is_refused = [&report](redlock::error_code ec) {
        require(ec == redlock::error::invalid_argument, "plain mode is not initialized");
        require(report.votes.size() <= 1, "the report is whole");
    };
    {
        auto [ec] = co_await redlock::async_initialize_nodes(
            executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain},
            &report,
            asio::as_tuple
        );
        is_refused(ec);
    }
    {
        auto [ec] = co_await redlock::async_initialize_nodes(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain, .key_prefix = "s:"},
            asio::as_tuple(asio::use_awaitable)
        );
        is_refused(ec);
    }
    redlock::error_code ec;
    co_await redlock::async_initialize_nodes(
        executor,
        {.nodes = {1, redlock::node_config{.host = "a name that is too long for a small string"}},
         .mode = mode::plain},
        &report,
        asio::redirect_error(ec)
    );
    is_refused(ec);
    co_await redlock::async_initialize_nodes(
        executor, {.nodes = redlock::parse_nodes(url), .key_prefix = "s:"}, &report
    );
    require(report.votes.size() == 1, "a fresh node is initialized");
}

}  // namespace spellings
