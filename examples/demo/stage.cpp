#include "stage.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace demo {

using namespace std::chrono_literals;

namespace {

/// Valkey works too, where a distribution has no Redis.
redlock::test::redis_server_options server_options()
{
    redlock::test::redis_server_options options;
    if (!redlock::test::available(options.program))
        options.program = "valkey-server";
    if (!redlock::test::available(options.program))
        throw std::runtime_error("neither redis-server nor valkey-server is installed");
    return options;
}

std::string join(const std::vector<std::string>& urls)
{
    std::string list;
    for (const std::string& url : urls)
        list += (list.empty() ? "" : ",") + url;
    return list;
}

}  // namespace

redlock::client_config make_config(const std::string& node_urls)
{
    redlock::client_config config;
    config.nodes = redlock::parse_nodes(node_urls);
    // Ten times the default: this machine may be busy with compilers, and runs the servers as well.
    config.node_timeout = 500ms;
    // The longest time anything is held here. Nodes that come back wait a little longer.
    config.ttl_max = 2 * lock_ttl;
    return config;
}

stage::stage(const asio::any_io_executor& executor)
    : servers(5, server_options()),
      node_urls(join(servers.urls())),
      config(make_config(node_urls)),
      first(executor, config),
      second(executor, config)
{
}

asio::awaitable<void> set_up(stage& on)
{
    // These servers are new, so they can't have lost any locks.
    co_await redlock::async_initialize_nodes(co_await asio::this_coro::executor, on.config);
    on.first.async_run(asio::detached);
    on.second.async_run(asio::detached);
}

asio::awaitable<bool> all_ready(const redlock::client& locks, std::chrono::milliseconds limit)
{
    const auto is_ready = [](const redlock::node_status& node) {
        return node.state == redlock::node_state::ready;
    };
    const auto give_up = std::chrono::steady_clock::now() + limit;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!std::ranges::all_of(locks.nodes(), is_ready))
    {
        if (std::chrono::steady_clock::now() >= give_up)
            co_return false;
        timer.expires_after(10ms);
        co_await timer.async_wait();
    }
    co_return true;
}

stored_keys read_keys(redlock::test::redis_servers& servers, const std::string& key)
{
    stored_keys found;
    for (redlock::test::redis_server& server : servers)
    {
        if (server.pid() == 0)
            continue;
        auto connection = server.client();
        const auto value = connection.get(key);
        if (!value)
            continue;
        if (found.count == 0)
        {
            found.value = *value;
            found.ttl = std::chrono::milliseconds(connection.pttl(key));
        }
        found.all_equal = found.all_equal && *value == found.value;
        ++found.count;
    }
    return found;
}

}  // namespace demo
