#ifndef REDLOCK_TEST_SIM_DICE_HPP
#define REDLOCK_TEST_SIM_DICE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace redlock::sim {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// All randomness of a schedule. The same seed gives the same numbers on every machine, which the
/// distributions of the standard library do not promise.
class dice
{
public:
    explicit dice(std::uint64_t seed) noexcept : state_(seed) {}

    /// SplitMix64.
    std::uint64_t bits() noexcept
    {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// A number below `end`, which is not 0.
    std::size_t below(std::size_t end) noexcept { return static_cast<std::size_t>(bits() % end); }

    [[nodiscard]] double fraction() noexcept
    {
        return static_cast<double>(bits() >> 11) * 0x1.0p-53;
    }

    [[nodiscard]] bool chance(double probability) noexcept { return fraction() < probability; }

    /// Both ends included.
    template <class Rep, class Period>
    auto between(std::chrono::duration<Rep, Period> from, std::chrono::duration<Rep, Period> to)
    {
        using unit = std::chrono::duration<Rep, Period>;
        const auto span = static_cast<std::uint64_t>((to - from).count());
        return from + unit(static_cast<Rep>(bits() % (span + 1)));
    }

    std::int64_t between(std::int64_t from, std::int64_t to) noexcept
    {
        return from + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(to - from + 1));
    }

    /// Mostly around `usual`, rarely up to `longest`: each doubling is a third as likely.
    nanoseconds heavy_tailed(nanoseconds usual, nanoseconds longest) noexcept
    {
        nanoseconds drawn = between(usual / 2, usual);
        while (drawn < longest && below(3) == 0)
            drawn *= 2;
        return drawn < longest ? drawn : longest;
    }

private:
    std::uint64_t state_;
};

}  // namespace redlock::sim

#endif
