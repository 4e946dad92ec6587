#ifndef REDLOCK_SRC_CORE_BACKOFF_HPP
#define REDLOCK_SRC_CORE_BACKOFF_HPP

#include "core/instant.hpp"

#include <cstdint>

namespace redlock::core {

/** Random delays whose upper bound doubles up to a cap ("full jitter").

    Clients that collided once draw from the whole range, so that they spread out instead of
    colliding again one delay later.
*/
class backoff
{
public:
    /// @param first Upper bound of the first delay, at least 1 ns.
    /// @param cap Upper bound of every delay. Wins over `first`.
    backoff(nanoseconds first, nanoseconds cap) noexcept;

    /// The next delay, more than zero and at most the current bound.
    /// @param draw Uniformly random bits.
    [[nodiscard]] nanoseconds next(std::uint64_t draw) noexcept;

    /// Starts again with the first bound.
    void reset() noexcept { bound_ = first_; }

private:
    nanoseconds first_;
    nanoseconds cap_;
    nanoseconds bound_;
};

}  // namespace redlock::core

#endif
