#ifndef REDLOCK_SRC_CORE_QUARANTINE_HPP
#define REDLOCK_SRC_CORE_QUARANTINE_HPP

#include <redlock/time.hpp>

#include <algorithm>

namespace redlock::core {

/// How far a node's clock may go back in total, since it accepted what it forgets, without tokens
/// going back.
inline constexpr milliseconds max_clock_step{1000};

/// Covers rounding, here and in the node.
inline constexpr milliseconds quarantine_margin{100};

/** How long a node that may have forgotten something must not vote.

    @li Locks: until every lease that it may have granted is over, so at least `ttl_max`.
    @li Tokens: a stamp it accepted before is at most `window` ahead of its clock, and one that it
    accepts after is at most `window` behind. So its clock has to advance by more than twice the
    window plus all that it was set back. Then tokens increase even if all nodes forget everything
    (T2 in docs/design/proof.md).
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
