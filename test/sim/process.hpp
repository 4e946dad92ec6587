#ifndef REDLOCK_TEST_SIM_PROCESS_HPP
#define REDLOCK_TEST_SIM_PROCESS_HPP

#include "core/instant.hpp"
#include "loop/clock.hpp"
#include "loop/strand.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sim/dice.hpp"
#include "sim/processors.hpp"
#include "sim/running_clock.hpp"
#include "sim/schedule.hpp"
#include "sim/trace.hpp"

namespace redlock::sim {

/** The process of a client: the clocks it sees, and whether it runs.

    What the world has for it, bytes and timers, comes through `deliver`. It may stand still, and
    then all of that comes at once. It may end, and then nothing comes any more.
*/
class process
{
public:
    struct options
    {
        std::string name;
        std::int64_t rate = 0;  ///< Of its clocks, in millionths.
        nanoseconds wall_offset{0};
        nanoseconds latest_timer{0};  ///< Timers fire up to so much too late.
    };

    process(schedule& time, trace& told, options how, std::uint64_t seed);
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return how_.name; }

    // Its clocks.
    [[nodiscard]] core::instant now() const noexcept;
    [[nodiscard]] std::chrono::microseconds wall() const noexcept;

    /// The world's time at which its steady clock shows this, if it is not suspended meanwhile.
    [[nodiscard]] nanoseconds when(time_point steady) const noexcept;
    [[nodiscard]] bool was_suspended() const noexcept { return lost_ > nanoseconds(0); }
    void step_wall(nanoseconds by);

    /// From now on it shares processors. They must outlive it.
    void run_on(processors& shared, processors::costs of);

    // What happens to it.
    void stall(nanoseconds duration);

    /// As a machine that is suspended: its steady clock stands still as well.
    void suspend(nanoseconds duration);

    /// Ends without a word: nothing of it runs any more.
    void crash();

    /// Lets a process that has crashed run after all, so that its objects can be destroyed. Nobody
    /// looks at it any more.
    void bury();

    /// Forgets what waits for it.
    void clear() { waiting_.clear(); }

    [[nodiscard]] bool running() const noexcept { return alive_ && !stalled(); }
    [[nodiscard]] bool alive() const noexcept { return alive_; }
    [[nodiscard]] bool stalled() const noexcept { return stalled_until_ > time_.elapsed(); }

    /// Since when it runs, or when it will.
    [[nodiscard]] nanoseconds runs_since() const noexcept { return stalled_until_; }

    /// What is to come in the order in which it was sent.
    [[nodiscard]] std::uint64_t new_stream() noexcept { return ++streams_; }

    /// Calls `what` now, or as soon as the process runs, in the order of its stream.
    void deliver(std::uint64_t stream, std::function<void()> what);

    /// Calls `what` when the steady clock shows `at`, or somewhat later.
    void call_at(time_point at, std::uint64_t stream, std::function<void()> what);

private:
    using delivery = std::pair<std::uint64_t, std::function<void()>>;

    /// Calls `what` now, unless the process does not run.
    void run(std::uint64_t stream, std::function<void()> what);
    void wake();

    schedule& time_;
    trace& trace_;
    options how_;
    dice dice_;
    running_clock clock_;
    running_clock wall_;
    nanoseconds lost_{0};  ///< So far the steady clock is behind.
    nanoseconds stalled_until_{0};
    bool alive_ = true;
    bool buried_ = false;
    std::uint64_t streams_ = 0;
    std::deque<delivery> waiting_;
    processors* shared_ = nullptr;
    processors::task* task_ = nullptr;
};

/// The clock of a client in a process. The process must outlive it.
[[nodiscard]] std::shared_ptr<detail::clock> make_process_clock(
    process& of,
    const detail::strand_type& strand
);

}  // namespace redlock::sim

#endif
