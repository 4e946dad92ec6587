#ifndef REDLOCK_SRC_CLIENT_OPERATIONS_HPP
#define REDLOCK_SRC_CLIENT_OPERATIONS_HPP

#include <redlock/client.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "loop/task.hpp"

#include <memory>

/// What operations share. Each one is a coroutine that runs on the strand, and client.hpp and
/// lease.hpp declare how it starts.
namespace redlock::detail {

/// What the nodes said to a release.
[[nodiscard]] release_outcome outcome_of(const round& release) noexcept;

/// How long a fresh client waits at most for nodes that connect for the first time. A connection
/// that isn't made in `open_timeout` is given up, and a Sentinel may have led to a wrong server.
inline constexpr milliseconds longest_first_chance{5000};

/// Waits until a quorum is ready, or each node has had its first chance: it has answered, or failed
/// by all its addresses and Sentinels. Fails if the client ends.
[[nodiscard]] task<error_code> until_connected(client_impl& client);

/// Waits until each node has had its first chance.
[[nodiscard]] task<error_code> until_all_tried(client_impl& client);

}  // namespace redlock::detail

#endif
