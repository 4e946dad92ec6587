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

/// A round, one question to all nodes, to acquire or to extend.
struct round_event
{
    std::string_view resource;           ///< As given to the client.
    bool extension;                      ///< Whether the round extends a lease.
    error_code code;                     ///< Empty: a quorum granted in time.
    std::size_t granted;                 ///< Number of grants when the round was decided.
    std::size_t nodes;                   ///< Number of nodes.
    std::chrono::microseconds duration;  ///< Time until the decision.
};

/// An acquisition begins to wait. One that is granted at once doesn't.
struct waiting_event
{
    std::string_view resource;  ///< As given to the client.
    std::size_t position;       ///< Place in this client's line for the resource, from 1.
    std::size_t waiters;        ///< Length of that line.
};

/// A lease was acquired. A lease that shares the hold of its owner counts too.
struct acquired_event
{
    std::string_view resource;         ///< As given to the client.
    fencing_token fence;               ///< Token of the lease. Empty in plain mode.
    std::size_t rounds;                ///< Rounds to acquire. Zero: the lease shares a hold.
    std::chrono::microseconds waited;  ///< From the call to the lease.
};

/// An acquisition ended because another owner holds the resource.
struct contended_event
{
    std::string_view resource;         ///< As given to the client.
    std::size_t rounds;                ///< Rounds made to acquire.
    std::chrono::microseconds waited;  ///< From the call to its end.
};

/// An acquisition ended with an error other than `contended`.
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
    error_code code;            ///< Empty if the lease was extended.
    milliseconds remaining;     ///< Time left to the lease.
    std::size_t votes;          ///< As of `lease::votes()`, when a quorum had answered.
};

/// A lease ended before it was released.
struct lost_event
{
    std::string_view resource;  ///< As given to the client.
    fencing_token fence;        ///< Token of the lease. Empty in plain mode.
    error_code code;            ///< As of `lease::async_wait_lost`.
    error_code because;         ///< As of `lease::last_extension()`.
};

/// The holder of a lease was asked to stop.
struct revoked_event
{
    std::string_view resource;  ///< As given to the client.
    fencing_token fence;        ///< Token of the lease.
    milliseconds remaining;     ///< Time left to the lease.
};

/// An awaited release ended.
struct released_event
{
    std::string_view resource;  ///< As given to the client.
    release_outcome outcome;    ///< What the release found on the nodes.
};

/** Receives events of a client, for metrics and traces.

    Derive from it, override what you need, and set `client_config::observer`.

    @par Executor
    Called on the client's strand, in the middle of its work. A function must not block or throw. It
    must post any call to the client's operations. It may call the getters of clients and leases,
    and may destroy or abandon a lease. The views in an event are valid only during the
    call.

    @par Lifetime
    The client shares ownership of the observer.
*/
class REDLOCK_EXPORT observer
{
public:
    virtual ~observer() = default;

    /// A round was decided.
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

    /// The holder of a lease was asked to stop.
    virtual void on_revoked(const revoked_event&) noexcept {}

    /// An awaited release ended.
    virtual void on_released(const released_event&) noexcept {}

    /// A node changed its state, or the reason for it.
    virtual void on_node_state(const node_status&) noexcept {}
};

}  // namespace redlock

#endif
