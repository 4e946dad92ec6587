#ifndef REDLOCK_SRC_NODE_VETTING_SERVER_INFO_HPP
#define REDLOCK_SRC_NODE_VETTING_SERVER_INFO_HPP

#include <redlock/config.hpp>

#include "core/node_life.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

using core::refusal;

/// What a server says about itself, as far as it matters to a lock.
struct server_info
{
    std::string run_id;
    std::string version;
    std::chrono::seconds uptime{0};
    std::string replication_id;  ///< Changes whenever the server becomes a master.
    std::string predecessor;     ///< The replication id of the master before it.

    /// The addresses of connected replicas. One that reconnects may have two connections, and a
    /// backup listens nowhere, so connections aren't counted.
    std::vector<std::string> replicas;

    std::string mode;  ///< "standalone", "cluster" or "sentinel".
    std::string role;
    std::string cluster_enabled;  ///< "0" or "1".
    std::string max_memory;       ///< In bytes, "0" for no limit.
    std::string eviction_policy;
};

/// Takes what matters from a part of the answer to INFO. Ignores lines that it doesn't know.
void read_info(server_info& into, std::string_view text);

/// Judges a server only by its role.
[[nodiscard]] refusal judge_role(const std::string& role);

/// Judges a server only by its mode, because a Sentinel doesn't even know the first commands.
[[nodiscard]] refusal judge_mode(const server_info& server);

/// Judges a server by a command's error: is it no longer a master, or is it loading other data?
[[nodiscard]] refusal judge_error(std::string_view error);

/// Judges a server whose entry may fail over: is it still the master that it was?
[[nodiscard]] refusal judge_replication(
    const server_info& server,
    const std::string& replication_id
);

/// What makes a master wait for its replicas.
struct replica_settings
{
    unsigned to_write = 0;  ///< How many of them must be connected.
    std::chrono::seconds max_lag{0};
    std::string error{};  ///< The server's, instead of the settings.
};

/// @param told Names and values in turn.
void read_settings(replica_settings& into, const std::vector<std::string>& told);

/** Judges whether an old master stops granting within the time derived from its settings: no member
    of its group can become the master without having been one of the replicas that it waits for.

    @param known How many replicas the group has, if Sentinels have said so.
*/
[[nodiscard]] refusal judge_replicas(
    const server_info& server,
    const replica_settings& set,
    std::optional<unsigned> known
);

/// Judges a server by what it says, and by what its entry in the list of nodes accepts.
[[nodiscard]] refusal judge(const server_info& server, const node_config& accepts);

}  // namespace redlock::detail

#endif
