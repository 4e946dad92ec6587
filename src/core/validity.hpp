#ifndef REDLOCK_SRC_CORE_VALIDITY_HPP
#define REDLOCK_SRC_CORE_VALIDITY_HPP

#include "core/instant.hpp"

namespace redlock::core {

/** The part of a ttl that isn't used, because the clocks of client and nodes differ in rate.

    drift = ttl * rate + 2 ms, rounded up. The 2 ms are those of the algorithm's reference
    implementation (antirez/redlock-rb): 1 ms for the precision of Redis expiry, 1 ms for the
    smallest drift.
*/
[[nodiscard]] constexpr nanoseconds clock_drift(milliseconds ttl, double rate) noexcept
{
    const double share = static_cast<double>(to_nanoseconds(ttl).count()) * rate;
    return nanoseconds(static_cast<nanoseconds::rep>(share) + 1) + milliseconds(2);
}

/// How long a lease lives, and its keys.
struct lifetime
{
    milliseconds ttl;
    milliseconds grace;  ///< How long the keys outlive the lease.
    double drift_rate;   ///< `client_config::clock_drift`.

    /// The ttl that the nodes are told.
    [[nodiscard]] constexpr milliseconds of_keys() const noexcept { return ttl + grace; }

    [[nodiscard]] constexpr nanoseconds drift() const noexcept
    {
        return clock_drift(of_keys(), drift_rate);
    }

    /** The deadline of a lease whose round, or extension, began at `started`.

        The elapsed time needs no separate term: the deadline counts from before the first send, so
        every delay since then has shortened what is left.
    */
    [[nodiscard]] constexpr instant end(instant started) const noexcept
    {
        return shifted(started, to_nanoseconds(ttl) - drift());
    }
};

}  // namespace redlock::core

#endif
