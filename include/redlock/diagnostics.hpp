#ifndef REDLOCK_DIAGNOSTICS_HPP
#define REDLOCK_DIAGNOSTICS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>
#include <redlock/error.hpp>
#include <redlock/time.hpp>
#include <redlock/vote.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace redlock {

/// Why a node voted as it did.
enum class reason : std::uint8_t
{
    none,              ///< Nothing to explain: granted, or not answered yet.
    held,              ///< Another attempt holds the resource on this node.
    gone,              ///< The node no longer has our key, or never had it.
    timeout,           ///< No answer in time, usually `client_config::node_timeout`.
    connecting,        ///< The first connection was not ready in time. Nothing was sent.
    down,              ///< Not connected; the error code says why. Nothing was sent.
    connection_lost,   ///< The connection broke before the answer came.
    overloaded,        ///< Too many commands already wait for this node. Nothing was sent.
    error_reply,       ///< The server answered with an error; the text is its own.
    rejected,          ///< The node did not pass the checks on connecting; the text says why.
    unexpected_reply,  ///< The answer doesn't fit the command.
    fence,             ///< The node has recorded a token that isn't lower than ours.
    clock,             ///< Our time stamp is too far from the node's clock.
    unmarked,          ///< The node lost or replaced its data since its admission; checked again.
    quarantined,       ///< The node may have forgotten locks and doesn't vote for a while.
    config_mismatch,   ///< The node is marked for clients with other settings; the text says which.
    same_server,       ///< The node is the same server as another entry of the list.
    other_server,      ///< Several servers alternate behind the node's address.
    replica,           ///< The node is a replica of another server.
    cluster,           ///< The node belongs to a Redis Cluster.
    eviction,          ///< The node may evict keys when its memory is full.
    in_use,            ///< The node was in use before. Only from `async_initialize_nodes`.
    revoked,           ///< The hold is ours, but is marked so that it's no longer extended.
    too_few_replicas,  ///< The master has too few replicas to write, as after a failover.
};

/// Lower-case name, for logs and diagnostics.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(reason value) noexcept;

/// What one node answered in a round.
struct node_vote
{
    std::string node;                       ///< Address without credentials.
    std::optional<redlock::vote> vote;      ///< Empty: no answer when the round was decided.
    redlock::reason reason = reason::none;  ///< Why it did not grant.
    error_code code;                        ///< The network error, for `down` and the like.
    std::string text;                       ///< The server's own words, or the details.
    std::optional<milliseconds> held_for;   ///< Time left to the holder's key, if known.
    std::optional<std::size_t> position{};  ///< Our place in the queue of the node, from 1.
    std::optional<milliseconds> ready_in;   ///< Time left of a quarantine.
    /// How far the node's clock is ahead of our time stamp, if the node refused for that reason.
    std::optional<std::chrono::microseconds> clock_ahead;
    std::optional<std::chrono::microseconds> round_trip;  ///< From the start of the round.
};

/** The answers of all nodes in the last round of an operation.

    Pass its address as `acquire_options::report`, or to `async_initialize_nodes`. The operation
    writes to it only before it completes. It prints as one line:
    "need 3 of 5: 10.0.0.1:6379 granted 0.4ms, 10.0.0.2:6379 held 8.2s left, ..."
*/
struct diagnostics
{
    std::size_t quorum = 0;        ///< Grants needed. Zero: no round was started.
    std::size_t rounds = 0;        ///< Rounds of the operation, including this one.
    std::vector<node_vote> votes;  ///< One for each node, in the order of the configuration.

    /// Place in this client's line for the resource, if the acquisition gave up before it was
    /// first: only the first one asks the nodes. Zero otherwise.
    std::size_t position = 0;
    std::size_t waiters = 0;  ///< The length of that line.

    /// Whether this client held the resource itself when the acquisition was denied.
    bool held_by_this_client = false;

    /// Why no round, or no further round, was started: an argument is out of range (its name, value
    /// and limit), `async_run` wasn't called, or the client had too many rounds under way. Empty
    /// otherwise.
    std::string problem{};
};

/// One readable line without passwords.
[[nodiscard]] REDLOCK_EXPORT std::string to_string(const diagnostics& report);

/// Prints `to_string(report)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const diagnostics& report);

}  // namespace redlock

#endif
