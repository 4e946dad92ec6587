#ifndef REDLOCK_SRC_CORE_EXTENSION_SCHEDULE_HPP
#define REDLOCK_SRC_CORE_EXTENSION_SCHEDULE_HPP

#include "core/instant.hpp"

#include <cstdint>

namespace redlock::core {

/** When a lease that is extended automatically is extended next.

    | what happened | the next extension |
    |---|---|
    | it was granted | after a third of the ttl, or up to a tenth of that earlier |
    | an extension failed | after a fraction of the remaining validity, again and again |

    So two extensions may fail entirely before the lease is in danger, and the closer its end, the
    shorter the pauses. The jitter pulls leases apart that were acquired at the same moment. It only
    ever shortens: a ttl leaves room for extensions that come early, and none for late ones.
*/
class extension_schedule
{
public:
    /// A quorum granted the lease, or an extension, that was asked for at `asked`.
    /// @param draw Uniformly random bits.
    void granted(time_point asked, milliseconds ttl, std::uint64_t draw) noexcept;

    /// An extension failed at `now`, with so much validity left.
    void failed(time_point now, nanoseconds remaining, std::uint64_t draw) noexcept;

    /// The machine was suspended for so long, which the clock of the schedule did not notice.
    void suspended(nanoseconds duration) noexcept { due_ -= duration; }

    /// When to extend next.
    [[nodiscard]] time_point due() const noexcept { return due_; }

private:
    time_point due_;
};

}  // namespace redlock::core

#endif
