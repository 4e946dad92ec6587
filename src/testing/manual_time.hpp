#ifndef REDLOCK_SRC_TESTING_MANUAL_TIME_HPP
#define REDLOCK_SRC_TESTING_MANUAL_TIME_HPP

#include "core/instant.hpp"
#include "loop/clock.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "testing/world.hpp"

namespace redlock::testing {

/// What wall clocks show when a test begins.
inline constexpr std::chrono::microseconds beginning_of_time{1'790'000'000'000'000};

/** Time that passes only when the test says so.

    There are three clocks: the world's, by which nodes expire their keys, and the clients' pair.
    They advance together, unless one of the pair is stopped, like the steady clock while a machine
    is suspended. What is due runs from a handler that is posted to the strand.
*/
class manual_time final : public detail::clock, public world
{
public:
    enum class clock
    {
        steady,
        boot,
    };

    explicit manual_time(detail::strand_type strand);

    // detail::clock
    [[nodiscard]] core::instant now() const noexcept override;
    [[nodiscard]] std::chrono::microseconds wall() const noexcept override;
    [[nodiscard]] std::unique_ptr<detail::alarm> make_alarm() override;

    // world
    [[nodiscard]] nanoseconds elapsed() const override { return elapsed_; }
    void at(nanoseconds when, std::function<void()> what) override;

    /// Lets time pass at once, like a process that was stopped, whatever should have happened in
    /// between. `testing::advance` goes from event to event.
    void advance(nanoseconds by);

    /// The world's time at which something happens next.
    [[nodiscard]] std::optional<nanoseconds> next() const;

    /// One clock of the client's pair stands still from now on.
    void stop(clock which) { (which == clock::steady ? steady_runs_ : boot_runs_) = false; }

    /// The clock runs again.
    void resume(clock which) { (which == clock::steady ? steady_runs_ : boot_runs_) = true; }

    /// From now on time passes at each look at the clocks, as in a slow process.
    void pass_with_each_look(nanoseconds by) noexcept { per_look_ = by; }

    /// Sets the client's wall clock apart from the world's.
    void set_wall_offset(std::chrono::microseconds offset) noexcept { wall_offset_ = offset; }

    /// Moves only one clock of the client's pair.
    void jump(clock which, nanoseconds by);

private:
    class manual_alarm;

    /// What an alarm will call; the alarm owns it. Null: it was called.
    using plan = std::function<void()>;

    void post_due();

    detail::strand_type strand_;
    mutable nanoseconds elapsed_{0};
    nanoseconds per_look_{0};
    std::chrono::microseconds wall_offset_{0};
    mutable core::instant now_;
    bool steady_runs_ = true;
    bool boot_runs_ = true;

    std::multimap<nanoseconds, std::function<void()>> events_;
    std::multimap<time_point, std::weak_ptr<plan>> plans_;
};

}  // namespace redlock::testing

#endif
