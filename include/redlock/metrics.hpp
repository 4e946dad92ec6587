#ifndef REDLOCK_METRICS_HPP
#define REDLOCK_METRICS_HPP

#include <redlock/time.hpp>

#include <array>
#include <cstdint>

namespace redlock {

/// What a client has done since it was made. All counters only grow, except `held`, `at_risk`,
/// `waiting`, `rounds_under_way`, `waiting_for_place` and `window`.
struct metrics
{
    std::uint64_t rounds = 0;             ///< Rounds to acquire or extend.
    std::uint64_t acquired = 0;           ///< Leases acquired.
    std::uint64_t contended = 0;          ///< Acquisitions that ended because of another owner.
    std::uint64_t failed = 0;             ///< Acquisitions that ended with another error.
    std::uint64_t extended = 0;           ///< Extensions, automatic ones included.
    std::uint64_t extensions_failed = 0;  ///< Extensions that did not extend the lease.
    std::uint64_t lost = 0;               ///< Holds that ended before they were released.
    std::uint64_t revoked = 0;            ///< Holds whose holder was asked to stop.
    std::uint64_t released = 0;           ///< Holds that were released.
    std::uint64_t held = 0;               ///< Holds now. Leases of one owner may share one.
    std::uint64_t at_risk = 0;            ///< Of `held`: one more node's loss would end them.
    std::uint64_t acquire_rounds = 0;     ///< Rounds to acquire, a part of `rounds`.
    std::uint64_t waiting = 0;            ///< Acquisitions under way, with or without a wait.
    std::uint64_t woken = 0;              ///< Rounds that began because nodes woke the client.

    /// Rounds to acquire that ended with neither a grant nor a denial: late, refused, or without
    /// enough answers.
    std::uint64_t rounds_lost = 0;

    std::uint64_t rounds_under_way = 0;   ///< Rounds that the nodes haven't answered yet.
    std::uint64_t waiting_for_place = 0;  ///< Rounds that wait until others are answered.
    std::uint64_t window = 0;             ///< How many rounds to acquire may be under way now.

    /// Upper bounds of the times from a call to its lease, which `waits` counts.
    static constexpr std::array<milliseconds, 6> wait_bounds{
        milliseconds(1),
        milliseconds(10),
        milliseconds(100),
        milliseconds(1000),
        milliseconds(10000),
        milliseconds(60000)
    };

    /// Numbers of leases by the time of their acquisition: up to the first bound, up to the second
    /// one, and so on. The last one counts those above the last bound.
    std::array<std::uint64_t, 7> waits{};
};

}  // namespace redlock

#endif
