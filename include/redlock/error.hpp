#ifndef REDLOCK_ERROR_HPP
#define REDLOCK_ERROR_HPP

#include <redlock/detail/export.hpp>

#include <boost/system/error_code.hpp>

#include <iosfwd>
#include <type_traits>

namespace redlock {

using boost::system::error_code;

/** Why an operation failed: one code for each cause that a caller acts on differently.

    Cancellation is not among them. It is `boost::asio::error::operation_aborted`, everywhere.
    What each single node said is in `diagnostics`.
*/
enum class error
{
    /// Another owner holds the resource on at least one node, and the others were not enough for a
    /// quorum. Wait longer, or come back later.
    contended = 1,

    /// So many nodes did not answer that no quorum was possible. Look at the nodes or the network.
    quorum_unreachable,

    /// So many nodes refused (an error reply, a rejected password) that no quorum was possible.
    /// Repeating does not help before the nodes or the configuration change.
    node_rejected,

    /// A quorum granted, but too late: ttl minus the elapsed time and the clock drift was used up.
    /// Ask for a longer ttl.
    validity_exhausted,

    /// The lease is over: it expired, was released, or too few nodes still have its key.
    /// Stop the work it protected.
    lease_lost,

    /// The extension would exceed `acquire_options::hold_max`. The lease lives on to its deadline.
    hold_limit_reached,

    /// The client is not running: `async_run` was not called in time, or it was cancelled before.
    not_running,

    /// `async_run` was called while it runs.
    already_running,

    /// A resource, duration or option is out of range. Nothing was sent.
    invalid_argument,

    /// So many nodes are in quarantine, because they may have forgotten locks, that no quorum was
    /// possible. It passes by itself: `node_vote::ready_in` of the report says when. A fresh set of
    /// nodes is admitted at once by `async_initialize_nodes`.
    quarantined,

    /// So many nodes are marked for clients with other settings (number of nodes, `ttl_max`,
    /// `clock_window`) that no quorum was possible. Give all clients the same configuration.
    config_mismatch,

    /// A node was in use before. `async_initialize_nodes` changed nothing, or not all.
    already_initialized,
};

/// What to compare an error with when the exact cause does not matter.
enum class condition
{
    /// You do not hold the resource, and no cancellation or misuse is the reason.
    /// Matches contended, quorum_unreachable, node_rejected, validity_exhausted, quarantined and
    /// config_mismatch.
    not_acquired = 1,

    /// The nodes, and not another owner, are the reason.
    /// Matches quorum_unreachable, node_rejected, quarantined and config_mismatch.
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
