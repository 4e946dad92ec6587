#ifndef REDLOCK_TEST_SUPPORT_MANUAL_CLOCK_HPP
#define REDLOCK_TEST_SUPPORT_MANUAL_CLOCK_HPP

#include "loop/clock.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace redlock::test {

/// The clock of nodes and links in a test: goes on when the test says so, alarm by alarm.
class manual_clock final : public detail::clock
{
public:
    [[nodiscard]] time_point now() const noexcept override { return now_; }
    [[nodiscard]] std::unique_ptr<detail::alarm> make_alarm() override;

    /// Lets time pass, and calls what is due in its order. Calls `between` after each alarm.
    void advance(core::nanoseconds by, const std::function<void()>& between);

    /// Lets time pass in which nobody gets to do anything, as in a process that stands still.
    void stand_still(core::nanoseconds by) { now_ += by; }

    /// How long until the next alarm. Nothing: there is none.
    [[nodiscard]] std::optional<core::nanoseconds> next() const;

private:
    struct plan
    {
        time_point due;
        std::function<void()> what;
    };

    class manual_alarm;

    [[nodiscard]] std::shared_ptr<plan> earliest() const;

    time_point now_{std::chrono::hours(1)};
    std::vector<std::weak_ptr<plan>> plans_;
};

}  // namespace redlock::test

#endif
