#ifndef REDLOCK_SRC_CLIENT_OPERATIONS_HPP
#define REDLOCK_SRC_CLIENT_OPERATIONS_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/lease.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "loop/task.hpp"

#include <memory>

/// The operations of a client and of its leases, each one a coroutine that runs on the strand.
namespace redlock::detail {

/// Runs the client until it is cancelled.
[[nodiscard]] task<error_code> run(std::shared_ptr<client_impl> self);

/// Waits for a quorum of ready nodes.
[[nodiscard]] task<error_code> wait_ready(std::shared_ptr<client_impl> self);

/// Acquires what is wanted, in as many rounds as its `wait` allows.
[[nodiscard]] task<result<lease>> acquire(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> wanted
);

/// Extends `held` to `ttl` from now.
/// @param taken The place of its round. Empty: it waits for one, until `limit` or the hold ends.
[[nodiscard]] task<error_code> extend(
    std::shared_ptr<hold> held,
    milliseconds ttl,
    place taken = {},
    time_point limit = time_point::max()
);

/// The same for one lease. Fails if that is ended meanwhile.
[[nodiscard]] task<error_code> extend(std::shared_ptr<share> asked_by, milliseconds ttl);

/// Releases what `leaving` had. The caller has ended it: `ended` says how.
[[nodiscard]] task<result<release_outcome>> release(
    std::shared_ptr<share> leaving,
    core::lease_end ended
);

/// Waits until a lease is over.
[[nodiscard]] task<error_code> wait_lost(share::attention given);

/// The same, or until it has so little left. From then on it is not extended automatically.
[[nodiscard]] task<error_code> wait_stop(share::attention given, milliseconds stop_before);

/// Releases what the client holds, and ends it.
[[nodiscard]] task<error_code> close(std::shared_ptr<client_impl> self);

}  // namespace redlock::detail

#endif
