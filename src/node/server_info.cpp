#include "node/server_info.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

std::chrono::seconds to_seconds(std::string_view text) noexcept
{
    std::uint32_t result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return std::chrono::seconds(result);
}

void read_field(server_info& into, std::string_view name, std::string_view value)
{
    if (name == "run_id")
        into.run_id = value;
    else if (name == "uptime_in_seconds")
        into.uptime = to_seconds(value);
    else if (name == "redis_mode")
        into.mode = value;
    else if (name == "role")
        into.role = value;
    else if (name == "cluster_enabled")
        into.cluster_enabled = value;
    else if (name == "maxmemory")
        into.max_memory = value;
    else if (name == "maxmemory_policy")
        into.eviction_policy = value;
}

}  // namespace

void read_info(server_info& into, std::string_view text)
{
    while (!text.empty())
    {
        const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos)
            read_field(into, line.substr(0, colon), line.substr(colon + 1));
    }
}

refusal judge_role(const std::string& role)
{
    if (role == "master")
        return {};
    return {reason::replica, "the server's role is '" + role + "', must be 'master'"};
}

refusal judge_mode(const server_info& server)
{
    if (server.mode != "sentinel")
        return {};
    return {
        reason::rejected,
        "this is a Sentinel, which holds no data; name the masters that it watches",
    };
}

refusal judge_error(std::string_view error)
{
    constexpr std::array<std::pair<std::string_view, reason>, 3> codes{{
        {"-READONLY ", reason::replica},
        {"-MASTERDOWN ", reason::replica},
        {"-LOADING ", reason::rejected},
    }};
    for (const auto& [code, why] : codes)
    {
        // Before 7.0 a server put words of its own before the error of a command in a script.
        if (error.starts_with(code.substr(1)) || error.find(code) != error.npos)
            return {why, std::string(error)};
    }
    return {};
}

refusal judge(const server_info& server, const node_config& accepts)
{
    // Some are remembered for the client's lifetime, and those of servers have 40 characters.
    constexpr std::size_t longest_run_id = 100;
    if (server.run_id.empty() || server.run_id.size() > longest_run_id)
        return {reason::rejected, "INFO shows no run_id"};
    if (refusal not_a_master = judge_role(server.role))
        return not_a_master;
    // What a server does not say is not taken for the best.
    if (server.cluster_enabled != "0" && !accepts.accept_cluster)
        return {reason::cluster, "the server belongs to a cluster"};
    // An unlimited memory evicts nothing, whatever the policy.
    const bool may_evict = server.max_memory != "0" && server.eviction_policy != "noeviction";
    if (may_evict && !accepts.accept_eviction)
    {
        return {
            reason::eviction,
            "maxmemory-policy is '" + server.eviction_policy + "', must be 'noeviction'",
        };
    }
    return {};
}

}  // namespace redlock::detail
