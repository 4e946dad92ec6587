#ifndef REDLOCK_TEST_SIM_RUNNING_CLOCK_HPP
#define REDLOCK_TEST_SIM_RUNNING_CLOCK_HPP

#include <chrono>
#include <cstdint>

namespace redlock::sim {

using std::chrono::nanoseconds;

/// A clock that is off by an offset, and runs too fast or too slow by a rate.
class running_clock
{
public:
    running_clock() = default;

    /// @param rate In millionths: 5000 gains 5 ms in a second.
    running_clock(nanoseconds offset, std::int64_t rate) noexcept : offset_(offset), rate_(rate) {}

    /// What it shows at a time of the world.
    [[nodiscard]] nanoseconds read(nanoseconds world) const noexcept
    {
        return offset_ + world + world / million * rate_ + world % million * rate_ / million;
    }

    /// The first time of the world at which it shows `shown`, or more.
    [[nodiscard]] nanoseconds when(nanoseconds shown) const noexcept
    {
        const nanoseconds passed = shown - offset_;
        const double rate = 1.0 + static_cast<double>(rate_) / million;
        nanoseconds guess(static_cast<std::int64_t>(static_cast<double>(passed.count()) / rate));
        while (read(guess) < shown)
            ++guess;
        while (read(guess - nanoseconds(1)) >= shown)
            --guess;
        return guess;
    }

    /// Sets it forward, or back.
    void step(nanoseconds by) noexcept { offset_ += by; }

private:
    static constexpr std::int64_t million = 1'000'000;

    nanoseconds offset_{0};
    std::int64_t rate_ = 0;
};

}  // namespace redlock::sim

#endif
