#ifndef REDLOCK_OBSERVER_HPP
#define REDLOCK_OBSERVER_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>
#include <redlock/fencing.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/time.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace redlock {

struct node_status;

/// All nodes were asked once, to acquire or to extend.
struct round_event
{
    std::string_view resource;           ///< As given to the client.
    bool extension;                      ///< Whether a lease was to be extended.
    error_code code;                     ///< Empty: a quorum granted in time.
    std::size_t granted;                 ///< How many nodes had granted when it was decided.
    std::size_t nodes;                   ///< How many there are.
    std::chrono::microseconds duration;  ///< Until it was decided.
};

/// An acquisition begins to wait. An acquisition that is granted at once does not.
struct waiting_event
{
    std::string_view resource;  ///< As given to the client.
    std::size_t position;       ///< In the line of this client for the resource, from 1.
    std::size_t waiters;        ///< How long that line is.
};

/// A lease was acquired. A lease that shares the hold of its owner counts as well.
struct acquired_event
{
    std::string_view resource;         ///< As given to the client.
    fencing_token fence;               ///< That of the lease. Empty in plain mode.
    std::size_t rounds;                ///< Rounds to acquire. Zero: it shares a hold.
    std::chrono::microseconds waited;  ///< From the call to the lease.
};

/// An acquisition ended because another owner holds the resource.
struct contended_event
{
    std::string_view resource;         ///< As given to the client.
    std::size_t rounds;                ///< Rounds made to acquire.
    std::chrono::microseconds waited;  ///< From the call to its end.
};

/// An acquisition ended with another error than `contended`.
struct failed_event
{
    std::string_view resource;         ///< As given to the client.
    error_code code;                   ///< The error of the operation.
    std::size_t rounds;                ///< Rounds made to acquire.
    std::chrono::microseconds waited;  ///< From the call to its end.
};

/// An extension ended, automatic or not.
struct extended_event
{
    std::string_view resource;  ///< As given to the client.
    error_code code;            ///< Empty if the lease was prolonged.
    milliseconds remaining;     ///< Time left to the lease.
};

/// A lease ended before it was released.
struct lost_event
{
    std::string_view resource;  ///< As given to the client.
    fencing_token fence;        ///< That of the lease. Empty in plain mode.
    error_code code;            ///< As `lease::async_wait_lost`.
    error_code because;         ///< As `lease::last_extension()`.
};

/// A release ended that somebody waited for.
struct released_event
{
    std::string_view resource;  ///< As given to the client.
    release_outcome outcome;    ///< What the release found on the nodes.
};

/** Is told what a client does, for metrics and traces.

    Derive from it, override what you need, and put it into `client_config::observer`.

    @par Executor
    Called on the client's strand, in the middle of its work. So a function must not block, must not
    throw, and must not call the client's operations other than to post something. What the views
    in an event point to is valid during the call only.

    @par Lifetime
    The client shares the ownership.
*/
class REDLOCK_EXPORT observer
{
public:
    virtual ~observer() = default;

    /// A round of questions to the nodes was decided.
    virtual void on_round(const round_event&) noexcept {}

    /// An acquisition begins to wait.
    virtual void on_waiting(const waiting_event&) noexcept {}

    /// A lease was acquired.
    virtual void on_acquired(const acquired_event&) noexcept {}

    /// An acquisition ended because another owner holds the resource.
    virtual void on_contended(const contended_event&) noexcept {}

    /// An acquisition ended with another error.
    virtual void on_failed(const failed_event&) noexcept {}

    /// An extension ended.
    virtual void on_extended(const extended_event&) noexcept {}

    /// A lease ended before it was released.
    virtual void on_lost(const lost_event&) noexcept {}

    /// A release ended that somebody waited for.
    virtual void on_released(const released_event&) noexcept {}

    /// A node changed its state, or the reason for it.
    virtual void on_node_state(const node_status&) noexcept {}
};

}  // namespace redlock

#endif
