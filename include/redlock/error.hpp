#ifndef REDLOCK_ERROR_HPP
#define REDLOCK_ERROR_HPP

#include <redlock/detail/export.hpp>

#include <boost/system/error_code.hpp>

#include <iosfwd>
#include <type_traits>

namespace redlock {

using boost::system::error_code;

/** Why an operation failed: one code for each cause that needs a different reaction.

    Cancellation is always `boost::asio::error::operation_aborted`. `diagnostics` has the answer of
    each node. See `condition` for what to do: an acquisition tries again after
    `condition::not_acquired`. A new one goes last, and into error.cpp and docs/trouble.md.
*/
enum class error
{
    /// Another owner holds the resource on at least one node, and no quorum was possible. Wait
    /// longer, or come back later.
    contended = 1,

    /// Too many nodes didn't answer for a quorum. Look at the nodes or the network.
    quorum_unreachable,

    /// Too many nodes refused (an error reply, a rejected password) for a quorum. Retrying doesn't
    /// help until the nodes or the configuration change.
    node_rejected,

    /// A quorum granted, but too late: the elapsed time and the clock drift had used up the ttl.
    /// Ask for a longer ttl.
    validity_exhausted,

    /// The lease is over: it expired, was released, or too few nodes still have its key.
    /// Stop the work it protected.
    lease_lost,

    /// The extension would exceed `acquire_options::hold_max`. The lease lasts until its deadline.
    hold_limit_reached,

    /// The client isn't running: `async_run` wasn't called in time, or the client was cancelled.
    not_running,

    /// `async_run` was called while it was running.
    already_running,

    /// A resource, duration or option is out of range. Nothing was sent.
    invalid_argument,

    /// Too many nodes are in quarantine for a quorum, because they may have forgotten locks. This
    /// ends on its own: `node_vote::ready_in` in the report says when. `async_initialize_nodes`
    /// admits a fresh set of nodes at once.
    quarantined,

    /// Too many nodes are marked for clients with other settings (databases, number of nodes,
    /// `ttl_max`, `clock_window`) for a quorum. Give all clients the same configuration.
    config_mismatch,

    /// A node was in use before. `async_initialize_nodes` marked none of the nodes, or only some.
    already_initialized,

    /// This client had as many rounds under way as its nodes answer in time, and no room became
    /// free within the wait (for a try, within `node_timeout`). The nodes weren't asked. Ask for
    /// fewer resources at a time, or wait longer.
    overloaded,

    /// The holder was asked to stop, by `client::async_revoke`. The lease lasts until its deadline
    /// and is no longer extended. Stop the work it protects and release it.
    revoked,

    /// No node in a quorum had the hold to revoke. It's over, or never existed.
    no_such_hold,
};

/// Groups of errors, for comparisons where the exact cause doesn't matter.
enum class condition
{
    /// You don't hold the resource, and the reason isn't cancellation or misuse. Matches contended,
    /// quorum_unreachable, node_rejected, validity_exhausted, quarantined, config_mismatch and
    /// overloaded.
    not_acquired = 1,

    /// The nodes are the reason, not another owner. Matches quorum_unreachable, node_rejected,
    /// quarantined and config_mismatch.
    nodes_unavailable,
};

/// The category named "redlock" of `error`.
[[nodiscard]] REDLOCK_EXPORT const boost::system::error_category& error_category() noexcept;

/// The category named "redlock.condition" of `condition`.
[[nodiscard]] REDLOCK_EXPORT const boost::system::error_category& condition_category() noexcept;

/// The code of an `error`.
[[nodiscard]] inline error_code make_error_code(error value) noexcept
{
    return {static_cast<int>(value), error_category()};
}

/// The condition to compare codes with.
[[nodiscard]] inline boost::system::error_condition make_error_condition(condition value) noexcept
{
    return {static_cast<int>(value), condition_category()};
}

/// Prints the message of the code, as `error_code::message()`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, error value);

/// Prints the message of the condition.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, condition value);

}  // namespace redlock

template <>
struct boost::system::is_error_code_enum<redlock::error> : std::true_type
{
};

template <>
struct boost::system::is_error_condition_enum<redlock::condition> : std::true_type
{
};

#endif
