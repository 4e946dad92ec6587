#ifndef REDLOCK_SRC_LOOP_CLOCK_HPP
#define REDLOCK_SRC_LOOP_CLOCK_HPP

#include "core/instant.hpp"
#include "loop/strand.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace redlock::detail {

/// Calls a function once, later, on the strand.
class alarm
{
public:
    /// Forgets what it was set to, uncalled.
    virtual ~alarm() = default;

    /// Calls `what` when the steady clock shows `at`, never in place. Replaces what it was set to
    /// before.
    virtual void set(time_point at, std::function<void()> what) = 0;

    /// Calls now what it was set to, but not in place.
    virtual void hurry() noexcept = 0;

    /// Forgets what it was set to, uncalled.
    virtual void cancel() noexcept = 0;
};

/** The only way for a client, its nodes and its links to know the time and to wait.

    Tests replace it, so that virtual time runs the same compiled code.
*/
class clock
{
public:
    virtual ~clock() = default;

    /// Both clocks, read now.
    [[nodiscard]] virtual core::instant now() const noexcept = 0;

    /// The wall clock, since the epoch. It doesn't have to be right: see `token_clock`.
    [[nodiscard]] virtual std::chrono::microseconds wall() const noexcept = 0;

    [[nodiscard]] virtual std::unique_ptr<alarm> make_alarm() = 0;
};

/// The clocks of this machine, and Asio timers on `strand`.
[[nodiscard]] std::shared_ptr<clock> make_system_clock(const strand_type& strand);

}  // namespace redlock::detail

#endif
