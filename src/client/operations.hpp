#ifndef REDLOCK_SRC_CLIENT_OPERATIONS_HPP
#define REDLOCK_SRC_CLIENT_OPERATIONS_HPP

#include <redlock/client.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "loop/task.hpp"

#include <memory>

/// The operations of a client and of its leases, each one a coroutine that runs on the strand.
namespace redlock::detail {

/// Extends `held` to `ttl` from now.
/// @param taken The place of its round. Empty: it waits for one, until `limit` or the hold ends.
[[nodiscard]] task<error_code> extend(
    std::shared_ptr<hold> held,
    milliseconds ttl,
    place taken = {},
    time_point limit = time_point::max()
);

/// Has nodes that lack a hold take it again, up to the deadline that it has.
[[nodiscard]] task<error_code> take_again(std::shared_ptr<hold> held, place taken);

/// What the nodes said to a release.
[[nodiscard]] release_outcome outcome_of(const round& release) noexcept;

/// How long a fresh client waits at most for nodes that connect for the first time. A connection
/// that isn't made in `open_timeout` is given up, and a Sentinel may have led to a wrong server.
inline constexpr milliseconds longest_first_chance{5000};

/// Waits until a quorum is ready, or each node has had its first chance: it has answered, or failed
/// by all its addresses and Sentinels. Fails if the client ends.
[[nodiscard]] task<error_code> until_connected(client_impl& client);

/// After a round that was lost for its time: waits until enough nodes have said what time it is,
/// for at most a node timeout.
[[nodiscard]] task<error_code> until_time_is_told(client_impl& client, const round& lost);

/// Waits until each node has had its first chance.
[[nodiscard]] task<error_code> until_all_tried(client_impl& client);

}  // namespace redlock::detail

#endif
