#ifndef REDLOCK_SRC_CORE_FASTER_CLOCK_HPP
#define REDLOCK_SRC_CORE_FASTER_CLOCK_HPP

#include "core/instant.hpp"

#include <algorithm>

namespace redlock::core {

/** A time that passes whenever one of the two clocks of an `instant` moves.

    So it passes while the machine is suspended, and what is ordered by it stays in order. It is
    never behind either clock, so what is due on one of them is due here.
*/
class faster_clock
{
public:
    /// The time at `now`. A `now` before the last one changes nothing.
    [[nodiscard]] nanoseconds read(instant now) noexcept
    {
        time_ += std::max(since_last(now), nanoseconds(0));
        last_ = {std::max(last_.steady, now.steady), std::max(last_.boot, now.boot)};
        return time_;
    }

    /// The time at `then`, which isn't later than the last `now`.
    [[nodiscard]] nanoseconds at(instant then) const noexcept
    {
        // On the clock that has moved further since.
        return time_ + std::min<nanoseconds>(then.steady - last_.steady, then.boot - last_.boot);
    }

private:
    /// On the clock that has moved further.
    [[nodiscard]] nanoseconds since_last(instant then) const noexcept
    {
        return std::max<nanoseconds>(then.steady - last_.steady, then.boot - last_.boot);
    }

    instant last_;
    nanoseconds time_{0};
};

}  // namespace redlock::core

#endif
