#ifndef REDLOCK_TIME_HPP
#define REDLOCK_TIME_HPP

#include <chrono>
#include <limits>

namespace redlock {

/// Durations that go into the library are whole milliseconds, the unit of a Redis ttl.
using std::chrono::milliseconds;

/// Deadlines that come out of it can be handed to any Asio timer.
using time_point = std::chrono::steady_clock::time_point;

/// No limit. Spelled out, so that nobody waits for ever by leaving something out.
inline constexpr milliseconds forever = milliseconds::max();

/** Converts any duration to milliseconds without overflow.

    Rounds towards zero. What is too long for milliseconds becomes `forever`, or its negative.

    @return The saturated duration.
*/
template <class Rep, class Period>
[[nodiscard]] constexpr milliseconds saturate(std::chrono::duration<Rep, Period> duration) noexcept
{
    using wide = std::chrono::duration<long double, std::milli>;
    // `long double` has the 64 bits of mantissa that the comparison needs where it is wider than
    // double; elsewhere the last values below the limit saturate early, which hurts nobody.
    const wide value(duration);
    if (value >= wide(milliseconds::max()))
        return milliseconds::max();
    if (value <= -wide(milliseconds::max()))
        return -milliseconds::max();
    return std::chrono::duration_cast<milliseconds>(duration);
}

}  // namespace redlock

#endif
