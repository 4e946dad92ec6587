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

    So two extensions may fail entirely before the lease is in danger, and pauses get shorter as its
    end comes closer. Jitter separates leases that were acquired at the same moment. It only ever
    shortens a pause, because a ttl leaves room for early extensions and none for late ones.

    Times are those of a clock that keeps running while the machine is suspended.
*/
class extension_schedule
{
public:
    /// A quorum granted the lease, or an extension, that was asked for at `asked`.
    /// @param draw Uniformly random bits.
    void granted(nanoseconds asked, milliseconds ttl, std::uint64_t draw) noexcept;

    /// An extension failed at `now`, with this much validity left.
    void failed(nanoseconds now, nanoseconds remaining, std::uint64_t draw) noexcept;

    /// When to extend next.
    [[nodiscard]] nanoseconds due() const noexcept { return due_; }

private:
    nanoseconds due_{0};
};

}  // namespace redlock::core

#endif
