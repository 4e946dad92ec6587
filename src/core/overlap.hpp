#ifndef REDLOCK_SRC_CORE_OVERLAP_HPP
#define REDLOCK_SRC_CORE_OVERLAP_HPP

#include <redlock/config.hpp>
#include <redlock/time.hpp>

#include <chrono>

/// An overlap is the longest time for which an old master may keep granting after a failover.
namespace redlock::core {

/// The longest `min-replicas-max-lag` from which an overlap is derived. Redis' default is 10 s.
inline constexpr std::chrono::seconds max_replica_lag{60};

/// Whether an entry may lead to another server while clients run.
[[nodiscard]] inline bool may_fail_over(const node_config& entry) noexcept
{
    return entry.overlap || entry.sentinel;
}

/// Whether the overlap of an entry follows from its server's settings, because nobody promised one.
[[nodiscard]] inline bool derives_overlap(const node_config& entry) noexcept
{
    return entry.sentinel && !entry.overlap;
}

/** How long a master that no longer hears its replicas keeps writing.

    Redis looks once a second and compares whole seconds. With a lag of 2 s it was seen to write for
    3.5 s.
*/
[[nodiscard]] constexpr milliseconds overlap_after(std::chrono::seconds lag) noexcept
{
    return lag + std::chrono::seconds(2);
}

/// The longest overlap that an entry can have.
[[nodiscard]] inline milliseconds longest_overlap(const node_config& entry) noexcept
{
    if (entry.overlap)
        return *entry.overlap;
    return entry.sentinel ? overlap_after(max_replica_lag) : milliseconds(0);
}

}  // namespace redlock::core

#endif
