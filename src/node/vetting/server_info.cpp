#include "node/vetting/server_info.hpp"

#include "core/overlap.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

std::uint32_t to_number(std::string_view text) noexcept
{
    std::uint32_t result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

/// What to do about a group whose old master may keep granting for an unknown time.
refusal not_derived(const std::string& why, const std::string& remedy)
{
    return {
        reason::rejected,
        why + ": after a failover two clients may hold a lock; " + remedy +
            ", or promise with ?overlap=15s how long an old master may keep granting",
    };
}

void read_replica(server_info& into, std::string_view address)
{
    const bool listens = !address.ends_with(",port=0");
    if (listens && std::ranges::find(into.replicas, address) == into.replicas.end())
        into.replicas.emplace_back(address);
}

void read_field(server_info& into, std::string_view name, std::string_view value)
{
    if (name == "run_id")
        into.run_id = value;
    else if (name == "redis_version")
        into.version = value;
    else if (name == "master_replid")
        into.replication_id = value;
    else if (name == "master_replid2")
        into.predecessor = value;
    else if (name.starts_with("slave") && value.starts_with("ip="))
        read_replica(into, value.substr(0, value.find(",state=")));
    else if (name == "uptime_in_seconds")
        into.uptime = std::chrono::seconds(to_number(value));
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

void read_settings(replica_settings& into, const std::vector<std::string>& told)
{
    for (std::size_t i = 0; i + 1 < told.size(); i += 2)
    {
        if (told[i] == "min-replicas-to-write")
            into.to_write = to_number(told[i + 1]);
        else if (told[i] == "min-replicas-max-lag")
            into.max_lag = std::chrono::seconds(to_number(told[i + 1]));
    }
}

refusal judge_role(const std::string& role)
{
    if (role == "master")
        return {};
    return {reason::replica, "the server's role is '" + role + "', must be 'master'"};
}

refusal judge_replication(const server_info& server, const std::string& replication_id)
{
    if (refusal not_a_master = judge_role(server.role))
        return not_a_master;
    if (server.replication_id == replication_id)
        return {};
    return {reason::unmarked, "the server has become a master again; rechecking it"};
}

refusal judge_mode(const server_info& server)
{
    if (server.mode != "sentinel")
        return {};
    return {
        reason::rejected,
        "this is a Sentinel, which holds no data; use redis+sentinel:// with the name of the "
        "master it watches",
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
        // Before 7.0, a server put its own words before the error of a command in a script.
        if (error.starts_with(code.substr(1)) || error.find(code) != error.npos)
            return {why, std::string(error)};
    }
    return {};
}

refusal judge_replicas(
    const server_info& server,
    const replica_settings& set,
    std::optional<unsigned> known
)
{
    const std::string to_write = "min-replicas-to-write is " + std::to_string(set.to_write);
    const auto connected = static_cast<unsigned>(server.replicas.size());
    const unsigned replicas = std::max({known.value_or(0), connected, 1U});
    const std::string all =
        "set min-replicas-to-write " + std::to_string(replicas) + " on every server of the group";

    // Before this version, scripts wrote in spite of the setting.
    constexpr std::uint32_t first_version = 7;
    if (to_number(server.version) < first_version)
        return not_derived("the server is version " + server.version, "upgrade it to 7.0");
    if (!set.error.empty())
        return not_derived(
            "the server doesn't report its settings: " + set.error, "allow CONFIG GET"
        );
    if (!known)
        return not_derived("the Sentinels don't report num-slaves", "allow SENTINEL MASTER");
    if (set.to_write < replicas)
    {
        return not_derived(
            to_write + ", but the group has " + std::to_string(replicas) + " replicas", all
        );
    }
    if (set.max_lag < std::chrono::seconds(1) || set.max_lag > core::max_replica_lag)
    {
        return not_derived(
            "min-replicas-max-lag is " + std::to_string(set.max_lag.count()) + ", must be 1 to " +
                std::to_string(core::max_replica_lag.count()),
            "set it on every server of the group"
        );
    }
    return {};
}

refusal judge(const server_info& server, const node_config& accepts)
{
    // Run ids can be remembered for the client's lifetime. Real servers' have 40 characters.
    constexpr std::size_t longest_run_id = 100;
    if (server.run_id.empty() || server.run_id.size() > longest_run_id)
        return {reason::rejected, "INFO shows no run_id"};
    if (refusal not_a_master = judge_role(server.role))
        return not_a_master;
    constexpr std::size_t digits = 40;  // guarded_head.lua counts on that.
    if (core::may_fail_over(accepts) && server.replication_id.size() != digits)
        return {reason::rejected, "INFO shows no master_replid"};
    // A missing field is a refusal.
    if (server.cluster_enabled != "0" && !accepts.accept_cluster)
        return {reason::cluster, "the server belongs to a cluster"};
    // Without a memory limit nothing is evicted, whatever the policy.
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
