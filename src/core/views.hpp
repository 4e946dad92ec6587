#ifndef REDLOCK_SRC_CORE_VIEWS_HPP
#define REDLOCK_SRC_CORE_VIEWS_HPP

#include <redlock/holding.hpp>
#include <redlock/time.hpp>

#include "core/electorate.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::core {

/// What one node that may vote reported about a lock key.
struct node_view
{
    std::string value;          ///< Empty without a key.
    milliseconds remaining{0};  ///< Zero without a key, `forever` without a ttl.
    std::size_t waiting = 0;    ///< Clients in its queue.

    /// Its time, since the epoch. Empty in plain mode.
    std::optional<std::chrono::microseconds> clock{};
};

/// The views of all nodes together.
struct joint_view
{
    redlock::holding shown;   ///< All but the time.
    std::string holder{};     ///< The id. Empty: no holder, or an unknown one.
    std::uint64_t stamp = 0;  ///< Of the note.

    /// When to look again if no key changes: one that counts expires then. `forever`: never.
    milliseconds next_expiry = forever;
};

/** Joins what the nodes reported.

    A node whose clock is off doesn't count: its keys expire at a different time, and it wouldn't
    vote.

    @param told The views of the nodes that answered.
    @param nodes All of them.
    @param clock_window How far a node's clock may be from those of a quorum.
*/
[[nodiscard]] joint_view join_views(
    std::vector<node_view> told,
    electorate nodes,
    milliseconds clock_window
);

}  // namespace redlock::core

#endif
