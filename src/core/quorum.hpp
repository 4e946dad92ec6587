#ifndef REDLOCK_SRC_CORE_QUORUM_HPP
#define REDLOCK_SRC_CORE_QUORUM_HPP

#include <cstddef>

namespace redlock::core {

/// Number of nodes in a majority. Any two quorums of the same nodes share at least one. 1 for 1, 2
/// for 2 and 3, 3 for 4 and 5.
[[nodiscard]] constexpr std::size_t quorum_size(std::size_t node_count) noexcept
{
    return node_count / 2 + 1;
}

/// Number of nodes that may withhold their grant before a quorum is impossible.
[[nodiscard]] constexpr std::size_t spare_nodes(std::size_t node_count) noexcept
{
    return node_count - quorum_size(node_count);
}

}  // namespace redlock::core

#endif
