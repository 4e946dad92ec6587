#ifndef REDLOCK_SRC_CORE_QUARANTINE_HPP
#define REDLOCK_SRC_CORE_QUARANTINE_HPP

#include <redlock/time.hpp>

#include <algorithm>

namespace redlock::core {

/// How far a node's own clock may go back in all, since it accepted what it forgets, without tokens
/// going back.
inline constexpr milliseconds max_clock_step{1000};

/// For what is rounded, here and in the node.
inline constexpr milliseconds quarantine_margin{100};

/** How long a node that may have forgotten something must not vote.

    @li Locks: until every lease is over that it may have granted, so at least `ttl_max`.
    @li Tokens: a stamp it accepted before is at most `window` ahead of its clock, and one that it
    accepts after is at most `window` behind. So its clock has to move on by more than twice the
    window, and by what it was set back, however often. Then tokens increase even if all nodes
    forget everything (T2 in docs/safety.md).
*/
[[nodiscard]] constexpr milliseconds quarantine_for(
    milliseconds ttl_max,
    milliseconds window
) noexcept
{
    return std::max(ttl_max, 2 * window + max_clock_step) + quarantine_margin;
}

}  // namespace redlock::core

#endif
