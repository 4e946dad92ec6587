#ifndef REDLOCK_METRICS_HPP
#define REDLOCK_METRICS_HPP

#include <cstdint>

namespace redlock {

/// What a client has done since it was made. Counters only grow, but for `held`.
struct metrics
{
    std::uint64_t rounds = 0;             ///< Rounds to acquire or extend.
    std::uint64_t acquired = 0;           ///< Leases.
    std::uint64_t contended = 0;          ///< Acquisitions that ended because another owner holds.
    std::uint64_t failed = 0;             ///< Acquisitions that ended with another error.
    std::uint64_t extended = 0;           ///< Extensions, automatic ones included.
    std::uint64_t extensions_failed = 0;  ///< Those that did not prolong the lease.
    std::uint64_t lost = 0;               ///< Holds that ended before they were released.
    std::uint64_t released = 0;           ///< Holds that were given back.
    std::uint64_t held = 0;               ///< Holds now. Leases of one owner may share one.
};

}  // namespace redlock

#endif
