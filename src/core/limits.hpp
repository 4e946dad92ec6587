#ifndef REDLOCK_SRC_CORE_LIMITS_HPP
#define REDLOCK_SRC_CORE_LIMITS_HPP

#include <redlock/time.hpp>

#include "core/validity.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

/// Every limit of the public interface in one place. docs/configuration.md has the same table.
namespace redlock::core {

using namespace std::chrono_literals;

inline constexpr std::size_t max_resource_size = 512;
inline constexpr std::size_t max_prefix_size = 128;
inline constexpr std::size_t max_nodes = 15;
inline constexpr std::size_t max_sentinels = 15;
inline constexpr milliseconds max_overlap = 10min;
inline constexpr double max_clock_drift = 0.5;
inline constexpr milliseconds min_ttl = 10ms;
inline constexpr milliseconds max_ttl = 24h;
inline constexpr milliseconds max_at_least = 24h;
inline constexpr milliseconds min_clock_window = 1ms;
inline constexpr milliseconds max_clock_window = 1min;
inline constexpr milliseconds min_fence_ttl = 1min;
inline constexpr milliseconds max_fence_ttl = 24h * 1000;
inline constexpr milliseconds min_node_timeout = 1ms;
inline constexpr milliseconds max_node_timeout = 1min;
inline constexpr milliseconds min_retry_delay = 1ms;
inline constexpr milliseconds max_retry_delay = 1min;

/// Commands to one node that may wait for an answer. A frozen node costs this much memory and no
/// more, because further commands fail at once.
inline constexpr std::size_t max_unanswered = 4096;

/// Releases kept for one node that can't take them now: more than a client usually holds. The
/// oldest is dropped first, because its key expires first.
inline constexpr std::size_t max_pending_releases = 131'072;

inline constexpr milliseconds min_poll = 10ms;
inline constexpr milliseconds max_poll = 10s;

/// Clients in the queue of a node for one resource. Others poll.
inline constexpr std::size_t max_queue = 4096;

/// Nodes count no wait as longer than this. It is the longest ttl, so that waits in practice stay
/// below it and keep their order.
inline constexpr milliseconds longest_turn = max_ttl;

/// How long a queue lives without polls. Longer than `max_poll`.
inline constexpr milliseconds queue_ttl = 1min;

/// How long a node keeps a resource for the first in a queue: a few round trips, for which the node
/// timeout is a generous estimate.
[[nodiscard]] constexpr milliseconds reservation_for(milliseconds node_timeout) noexcept
{
    return std::max(node_timeout / 4, std::min(node_timeout, milliseconds(50)));
}

/// For a client that is far away. Nodes don't accept a longer one.
inline constexpr milliseconds longest_reservation = reservation_for(max_node_timeout);

/// Guarded mode's own keys begin with this: markers, quarantines and fences.
inline constexpr std::string_view reserved_prefix = "redlock:";

/// The highest `stop_before`. By then an extension that was sent after a third of the ttl has been
/// repeated once.
/// @param lives Must be valid.
[[nodiscard]] constexpr milliseconds longest_stop_before(
    const lifetime& lives,
    milliseconds node_timeout
) noexcept
{
    const nanoseconds longest =
        to_nanoseconds(lives.ttl) * 2 / 3 - lives.drift() - 2 * node_timeout;
    return std::max(std::chrono::floor<milliseconds>(longest), 0ms);
}

}  // namespace redlock::core

#endif
