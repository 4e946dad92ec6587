#ifndef REDLOCK_SRC_CLIENT_OPERATIONS_HPP
#define REDLOCK_SRC_CLIENT_OPERATIONS_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/holding.hpp>
#include <redlock/lease.hpp>
#include <redlock/note.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "core/release_count.hpp"
#include "loop/task.hpp"

#include <memory>

/// The operations of a client and of its leases, each one a coroutine that runs on the strand.
namespace redlock::detail {

class observation;

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

/// The same for one lease. Fails if that lease ends first.
[[nodiscard]] task<error_code> extend(std::shared_ptr<share> asked_by, milliseconds ttl);

/// Has nodes that lack a hold take it again, up to the deadline that it has.
[[nodiscard]] task<error_code> take_again(std::shared_ptr<hold> held, place taken);

/// Extends a lease and puts a note into its hold.
[[nodiscard]] task<error_code> announce(std::shared_ptr<share> asked_by, note text);

/// Releases what `leaving` had. The caller has already ended it: `ended` says how.
[[nodiscard]] task<result<release_outcome>> release(
    std::shared_ptr<share> leaving,
    core::lease_end ended
);

/// Waits until a lease is over.
[[nodiscard]] task<error_code> wait_lost(share::attention given);

/// The same, or until the lease has only `stop_before` left. From then on it isn't extended
/// automatically.
[[nodiscard]] task<error_code> wait_stop(share::attention given, milliseconds stop_before);

/// Asks the nodes who holds a resource.
/// @param about An acquisition of it that is never made.
[[nodiscard]] task<result<holding>> inspect(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about
);

/// Makes a quorum of the nodes refuse to extend a hold.
/// @param about An acquisition of its resource that is never made.
[[nodiscard]] task<result<revocation>> revoke(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about,
    fencing_token token
);

/// Deletes what releases have kept of a resource.
/// @param about An acquisition of it that is never made.
[[nodiscard]] task<result<release_outcome>> free_kept(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about
);

/// What the nodes said to a release.
[[nodiscard]] release_outcome outcome_of(const core::release_count& count) noexcept;

/// How long a fresh client waits at most for nodes that connect for the first time. A connection
/// that isn't made in `open_timeout` is given up, and a Sentinel may have led to a wrong server.
inline constexpr milliseconds longest_first_chance{5000};

/// Waits until a quorum is ready, or each node has had its first chance: it has answered, or failed
/// by all its addresses and Sentinels. Fails if the client ends.
[[nodiscard]] task<error_code> until_connected(client_impl& client);

/// After a round that was lost for its time: waits until enough nodes have said what time it is,
/// for at most a node timeout.
[[nodiscard]] task<error_code> until_time_is_told(client_impl& client, const vote_round& lost);

/// Waits until each node has had its first chance.
[[nodiscard]] task<error_code> until_all_tried(client_impl& client);

/// Waits until the view of `self` has changed.
[[nodiscard]] task<result<holding>> watch(std::shared_ptr<observation> self);

/// Releases what the client holds, and ends it.
[[nodiscard]] task<error_code> close(std::shared_ptr<client_impl> self);

}  // namespace redlock::detail

#endif
