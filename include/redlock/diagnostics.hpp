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
    gone,              ///< The key is no longer ours on this node, or never was.
    timeout,           ///< No answer within `client_config::node_timeout`.
    connecting,        ///< The first connection did not come about in time. Nothing was sent.
    down,              ///< Not connected; the error code says why. Nothing was sent.
    connection_lost,   ///< The connection broke before the answer came.
    overloaded,        ///< Too many commands wait for this node's answer. Nothing was sent.
    error_reply,       ///< The server answered with an error; the text is its own.
    rejected,          ///< The node did not pass the checks made on connecting; the text says why.
    unexpected_reply,  ///< The answer has a shape that this command never gets.
    fence,             ///< The node has recorded a token that is not lower than ours.
    clock,             ///< Our stamp is too far from the node's clock.
    unmarked,          ///< The node has lost its data since it was admitted. It is vetted again.
    quarantined,       ///< The node may have forgotten locks, and does not vote for a while.
    config_mismatch,   ///< The node is marked for clients with other settings; the text says which.
    same_server,       ///< The node is the same server as another one of the list.
    other_server,      ///< Several servers alternate behind the node's address.
    replica,           ///< The node is a replica of another server.
    cluster,           ///< The node belongs to a Redis Cluster.
    eviction,          ///< The node may evict keys when its memory is full.
    in_use,            ///< The node was in use before: of `async_initialize_nodes`.
};

/// Lower-case name, for logs and diagnostics.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(reason value) noexcept;

/// What one node answered in a round.
struct node_vote
{
    std::string node;                       ///< Address without credentials.
    std::optional<redlock::vote> vote;      ///< Empty: not answered yet when the round was decided.
    redlock::reason reason = reason::none;  ///< Why it did not grant.
    error_code code;                        ///< The network's error, for `down` and the like.
    std::string text;                       ///< The server's own words, for an error reply.
    std::optional<milliseconds> held_for;   ///< How long the holder's key has left there, if known.
    std::optional<std::size_t> position{};  ///< Our place in the queue of the node, from 1.
    std::optional<milliseconds> ready_in;   ///< How long a quarantine lasts yet.
    /// How far the node's clock is ahead of our stamp, if it refused for that.
    std::optional<std::chrono::microseconds> clock_ahead;
    std::optional<std::chrono::microseconds> round_trip;  ///< From the start of the round.
};

/** The account, node by node, of the last round of an operation.

    Pass its address as `acquire_options::report`, or to `async_initialize_nodes`. It is written
    before the operation completes and at no other time. It prints as one line:
    "need 3 of 5: 10.0.0.1:6379 granted 0.4ms, 10.0.0.2:6379 held 8.2s left, ..."
*/
struct diagnostics
{
    std::size_t quorum = 0;        ///< Grants needed. Zero: no round was started.
    std::size_t rounds = 0;        ///< Rounds made by the operation, the reported one included.
    std::vector<node_vote> votes;  ///< One for each node, in the order of the configuration.

    /// The place in the line of this client's acquisitions of the resource, of one that gave up
    /// before it was the first: the others do not ask the nodes. Zero otherwise.
    std::size_t position = 0;
    std::size_t waiters = 0;  ///< The length of that line then.

    /// Why no round was started: the argument that is out of its limits, by name, value and limit,
    /// or that `async_run` was not called. Empty otherwise.
    std::string problem{};
};

/// One readable line. Holds no passwords.
[[nodiscard]] REDLOCK_EXPORT std::string to_string(const diagnostics& report);

/// Prints `to_string(report)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const diagnostics& report);

}  // namespace redlock

#endif
