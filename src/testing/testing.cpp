#include <redlock/testing.hpp>

#include "client/client_impl.hpp"
#include "client/validate.hpp"
#include "core/electorate.hpp"
#include "core/limits.hpp"
#include "node/guard.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/fake_node.hpp"
#include "testing/loop.hpp"
#include "testing/manual_time.hpp"

namespace redlock::testing {

struct fake_nodes::parts
{
    explicit parts(boost::asio::io_context& runs_in)
        : context(runs_in), strand(boost::asio::any_io_executor(runs_in.get_executor()))
    {
    }

    [[nodiscard]] std::string key(std::string_view resource) const
    {
        return prefix.value_or(client_config().key_prefix).append(resource);
    }

    boost::asio::io_context& context;
    detail::strand_type strand;
    std::shared_ptr<manual_time> time = std::make_shared<manual_time>(strand);
    std::vector<std::shared_ptr<fake_server>> servers;
    std::vector<std::vector<std::weak_ptr<fake_node>>> nodes;  ///< Of each client.
    std::optional<std::string> prefix;                         ///< That of the clients.
    std::size_t down = 0;                                      ///< The first nodes.
    milliseconds quarantine{0};                                ///< The longest of the clients'.
};

fake_nodes::fake_nodes(boost::asio::io_context& context, std::size_t count)
    : parts_(std::make_unique<parts>(context))
{
    if (count < 1 || count > core::max_nodes)
        throw std::invalid_argument(
            "redlock: count of fake nodes is " + std::to_string(count) + ", must be 1 to " +
            std::to_string(core::max_nodes)
        );
    for (std::size_t node = 0; node < count; ++node)
        parts_->servers.push_back(std::make_shared<fake_server>());
}

fake_nodes::~fake_nodes() = default;

client fake_nodes::make_client(client_config config)
{
    config.nodes.resize(parts_->servers.size());
    for (std::size_t node = 0; node < config.nodes.size(); ++node)
    {
        config.nodes[node] = {};
        config.nodes[node].port = static_cast<std::uint16_t>(node + 1);  // Each node is different.
    }
    detail::validate(config);
    if (parts_->prefix.value_or(config.key_prefix) != config.key_prefix)
        throw std::invalid_argument(
            "redlock: key_prefix is '" + config.key_prefix + "', must be '" + *parts_->prefix +
            "', as for the earlier clients"
        );
    parts_->prefix = config.key_prefix;

    const auto guard = detail::make_guard(config);
    if (guard)
        parts_->quarantine = std::max(parts_->quarantine, guard->quarantine);

    const boost::asio::any_io_executor executor = parts_->context.get_executor();
    detail::ground on{
        parts_->strand, std::make_shared<detail::turn>(executor, parts_->strand), parts_->time
    };
    const auto log = std::make_shared<journal>();
    auto& nodes = parts_->nodes.emplace_back();
    detail::node_list asked;
    for (std::size_t index = 0; index < parts_->servers.size(); ++index)
    {
        const auto& server = parts_->servers[index];
        server->guard.window = config.clock_window;
        auto node = std::make_shared<fake_node>(index, parts_->time, log, server);
        if (index < parts_->down)
            node->starts(node_state::down, "taken down");
        if (guard)
            node->sits_out_quarantines();
        nodes.push_back(node);
        asked.push_back(std::move(node));
    }
    auto impl = std::make_shared<detail::client_impl>(
        executor, std::move(config), std::move(on), std::move(asked)
    );
    return detail::make_client(std::move(impl));
}

void fake_nodes::run_until_idle()
{
    testing::run_until_idle(parts_->context);
}

void fake_nodes::advance(std::chrono::nanoseconds by)
{
    testing::advance(parts_->context, *parts_->time, by);
}

void fake_nodes::freeze(std::chrono::nanoseconds by)
{
    parts_->time->advance(by);
    run_until_idle();
}

void fake_nodes::hold_elsewhere(std::string_view resource, milliseconds ttl, const note& says)
{
    for (const auto& server : parts_->servers)
        server->take_elsewhere(parts_->key(resource), ttl, says, parts_->time->elapsed());
}

void fake_nodes::lose(std::string_view resource)
{
    for (const auto& server : parts_->servers)
    {
        server->store.lose(parts_->key(resource));
        server->tell_change(parts_->key(resource));
    }
}

void fake_nodes::revoke(std::string_view resource)
{
    for (const auto& server : parts_->servers)
        server->revoke(parts_->key(resource), parts_->time->elapsed());
}

void fake_nodes::take_down(std::size_t count)
{
    parts_->down = count;
    for (const auto& nodes : parts_->nodes)
    {
        for (std::size_t index = 0; index < nodes.size(); ++index)
        {
            const auto node = nodes[index].lock();
            if (!node)
                continue;
            const bool down = index < count;
            if (down && node->status().state != node_state::down)
                node->becomes(node_state::down, "taken down");
            if (!down && node->status().state == node_state::down)
                node->becomes(node_state::ready);
        }
    }
}

void fake_nodes::fail_over(std::size_t count, milliseconds overlap)
{
    if (overlap < milliseconds(0))
        throw std::invalid_argument(
            "redlock: overlap is " + std::to_string(overlap.count()) + " ms, must not be negative"
        );
    count = std::min(count, parts_->servers.size());
    for (std::size_t index = 0; index < count; ++index)
    {
        parts_->servers[index]->forget();
        parts_->servers[index]->guard.quarantined_until =
            parts_->time->elapsed() + parts_->quarantine + overlap;
    }
    for (const auto& nodes : parts_->nodes)
    {
        for (std::size_t index = parts_->down; index < count; ++index)
        {
            const auto node = nodes[index].lock();
            if (!node)
                continue;
            node->becomes(node_state::down, "failed over", boost::asio::error::connection_reset);
            node->becomes(node_state::ready);
        }
    }
}

bool fake_nodes::held(std::string_view resource) const
{
    const auto holds = std::ranges::count_if(parts_->servers, [&](const auto& server) {
        return !server->store.value(parts_->key(resource), parts_->time->elapsed()).empty();
    });
    return static_cast<std::size_t>(holds) >= core::electorate(parts_->servers.size()).quorum();
}

std::chrono::nanoseconds fake_nodes::elapsed() const
{
    return parts_->time->elapsed();
}

}  // namespace redlock::testing
