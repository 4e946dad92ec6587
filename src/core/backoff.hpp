#ifndef REDLOCK_SRC_CORE_BACKOFF_HPP
#define REDLOCK_SRC_CORE_BACKOFF_HPP

#include "core/instant.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

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

/// Shortens a delay that would outlast the holders' keys. Waiters don't all end at the same time.
[[nodiscard]] nanoseconds until_free(nanoseconds delay, milliseconds free_after) noexcept;

/** When a client in the queues of the nodes asks again if nothing wakes it.

    The first in a queue asks when the resource may be free. The others ask late enough to stay out
    of its way, and all of them ask less and less often.
*/
class queue_polls
{
public:
    /// @param reservation How long a node keeps a resource for the client that it has woken.
    /// @param longest Upper bound of the first one's delays, not counting their jitter. The others
    /// wait longer, so that a long queue asks no more often than a short one.
    queue_polls(nanoseconds reservation, nanoseconds longest) noexcept
        : reservation_(reservation), longest_(longest)
    {
    }

    /// The next delay.
    /// @param position In the queue, from 1.
    /// @param free_after How long the holders' keys live, if that is known.
    /// @param draw Uniformly random bits.
    [[nodiscard]] nanoseconds next(
        std::size_t position,
        std::optional<milliseconds> free_after,
        std::uint64_t draw
    ) noexcept;

    /// The client was woken, so delays are short again.
    void start_again() noexcept { polls_ = 0; }

private:
    nanoseconds reservation_;
    nanoseconds longest_;
    std::size_t polls_ = 0;
};

}  // namespace redlock::core

#endif
