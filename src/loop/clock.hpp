#ifndef REDLOCK_SRC_LOOP_CLOCK_HPP
#define REDLOCK_SRC_LOOP_CLOCK_HPP

#include "core/instant.hpp"
#include "loop/strand.hpp"

#include <functional>
#include <memory>

namespace redlock::detail {

/// Calls a function once, later, on the strand.
class alarm
{
public:
    /// Forgets what it was set to, uncalled.
    virtual ~alarm() = default;

    /// Calls `what` after so long, instead of what it was set to before.
    virtual void set(core::nanoseconds after, std::function<void()> what) = 0;

    /// Calls now what it was set to, but not in place.
    virtual void hurry() noexcept = 0;

    /// Forgets what it was set to, uncalled.
    virtual void cancel() noexcept = 0;
};

/// The only way of a node and its connection to know the time and to wait. Tests replace it.
class clock
{
public:
    virtual ~clock() = default;

    [[nodiscard]] virtual time_point now() const noexcept = 0;
    [[nodiscard]] virtual std::unique_ptr<alarm> make_alarm() = 0;
};

/// The steady clock, and timers on `strand`.
[[nodiscard]] std::shared_ptr<clock> make_steady_clock(const strand_type& strand);

}  // namespace redlock::detail

#endif
