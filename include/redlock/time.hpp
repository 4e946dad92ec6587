#ifndef REDLOCK_TIME_HPP
#define REDLOCK_TIME_HPP

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace redlock {

/// The unit of all durations passed to the library, that of a Redis ttl.
using std::chrono::milliseconds;

/// The type of deadlines, which any Asio timer accepts.
using time_point = std::chrono::steady_clock::time_point;

// `max` in brackets: <windows.h> may define a macro of that name.

/// No limit. It must be written out, so an omission is never an endless wait.
inline constexpr milliseconds forever = (milliseconds::max)();

namespace detail {

template <class T>
inline constexpr bool is_duration = false;

template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

}  // namespace detail

/** Converts any duration to milliseconds without overflow.

    Rounds towards zero. A duration too long for milliseconds becomes `forever`, or its negative. A
    value that is not a number becomes zero.

    @return The saturated duration.
*/
template <class Rep, class Period>
[[nodiscard]] constexpr milliseconds saturate(std::chrono::duration<Rep, Period> duration) noexcept
{
    using factor = std::ratio_divide<Period, std::milli>;
    constexpr bool is_exact = std::is_integral_v<Rep> && (factor::den == 1 || factor::num == 1);
    // Otherwise in floating point, because the factor between the units may overflow the integers.
    using wide = std::chrono::duration<long double, std::milli>;

    if constexpr (is_exact && factor::den == 1)
    {
        constexpr auto limit = (milliseconds::max)().count() / factor::num;
        const auto count = duration.count();
        if (count > 0 && static_cast<std::uintmax_t>(count) > std::uintmax_t{limit})
            return (milliseconds::max)();
        if (std::numeric_limits<Rep>::is_signed && static_cast<std::intmax_t>(count) < -limit)
            return -(milliseconds::max)();
        return std::chrono::duration_cast<milliseconds>(duration);
    }
    else if constexpr (is_exact)
    {
        return std::chrono::duration_cast<milliseconds>(duration);
    }
    else
    {
        const wide value(duration);
        if (value != value)
            return milliseconds(0);
        if (value >= wide((milliseconds::max)()))
            return (milliseconds::max)();
        if (value <= -wide((milliseconds::max)()))
            return -(milliseconds::max)();
        return milliseconds(static_cast<milliseconds::rep>(value.count()));
    }
}

}  // namespace redlock

#endif
