#ifndef REDLOCK_SRC_CORE_INSTANT_HPP
#define REDLOCK_SRC_CORE_INSTANT_HPP

#include <redlock/time.hpp>

#include <algorithm>
#include <chrono>

namespace redlock::core {

using std::chrono::nanoseconds;

/** One moment, read on two clocks.

    `steady` is what timers and users understand, but on Linux it stands still while the machine is
    suspended. `boot` keeps running. Every deadline is kept on both, and the earlier one counts.
*/
struct instant
{
    time_point steady;
    nanoseconds boot{0};  ///< Since the machine was started, suspension included.

    friend bool operator==(const instant&, const instant&) = default;
};

/// `at` moved by `by`, on both clocks. A time beyond the range of a clock becomes its limit, so
/// `forever` needs no special case.
[[nodiscard]] constexpr instant shifted(instant at, nanoseconds by) noexcept
{
    const auto add = [](nanoseconds a, nanoseconds b) {
        if (b > nanoseconds(0) && a > nanoseconds::max() - b)
            return nanoseconds::max();
        if (b < nanoseconds(0) && a < nanoseconds::min() - b)
            return nanoseconds::min();
        return a + b;
    };
    return {time_point(add(at.steady.time_since_epoch(), by)), add(at.boot, by)};
}

/// `by` in nanoseconds, cut off at the largest value instead of overflowing.
[[nodiscard]] constexpr nanoseconds to_nanoseconds(milliseconds by) noexcept
{
    constexpr auto limit = std::chrono::duration_cast<milliseconds>(nanoseconds::max());
    return by > limit ? nanoseconds::max() : by < -limit ? -nanoseconds::max() : nanoseconds(by);
}

[[nodiscard]] constexpr instant shifted(instant at, milliseconds by) noexcept
{
    return shifted(at, to_nanoseconds(by));
}

/// Whether `now` is at or after `deadline` on either clock.
[[nodiscard]] constexpr bool reached(instant now, instant deadline) noexcept
{
    return now.steady >= deadline.steady || now.boot >= deadline.boot;
}

/// Time from `now` to `deadline` on the clock that gets there first. Negative when it has passed.
[[nodiscard]] constexpr nanoseconds remaining(instant now, instant deadline) noexcept
{
    return std::min<nanoseconds>(deadline.steady - now.steady, deadline.boot - now.boot);
}

}  // namespace redlock::core

#endif
