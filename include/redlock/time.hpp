#ifndef REDLOCK_TIME_HPP
#define REDLOCK_TIME_HPP

#include <chrono>
#include <ratio>

namespace redlock {

/// Durations that go into the library are whole milliseconds, the unit of a Redis ttl.
using std::chrono::milliseconds;

/// Deadlines that come out of it can be handed to any Asio timer.
using time_point = std::chrono::steady_clock::time_point;

/// No limit. Spelled out, so that nobody waits for ever by leaving something out.
inline constexpr milliseconds forever = milliseconds::max();

/** Converts any duration to milliseconds without overflow.

    Rounds towards zero. What is too long for milliseconds becomes `forever`, or its negative; what
    is not a number becomes zero.

    @return The saturated duration.
*/
template <class Rep, class Period>
[[nodiscard]] constexpr milliseconds saturate(std::chrono::duration<Rep, Period> duration) noexcept
{
    // Compared in floating point, because the factor between the units may overflow the integers.
    using wide = std::chrono::duration<long double, std::milli>;
    using factor = std::ratio_divide<Period, std::milli>;
    const wide value(duration);
    if (value != value)
        return milliseconds(0);
    if (value >= wide(milliseconds::max()))
        return milliseconds::max();
    if (value <= -wide(milliseconds::max()))
        return -milliseconds::max();

    // Multiplying first and dividing afterwards could overflow on the way.
    constexpr bool on_the_way = factor::num != 1 && factor::den != 1;
    if constexpr (std::chrono::treat_as_floating_point_v<Rep> || on_the_way)
        return milliseconds(static_cast<milliseconds::rep>(value.count()));
    else
        return std::chrono::duration_cast<milliseconds>(duration);
}

}  // namespace redlock

#endif
