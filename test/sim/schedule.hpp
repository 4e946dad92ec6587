#ifndef REDLOCK_TEST_SIM_SCHEDULE_HPP
#define REDLOCK_TEST_SIM_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "testing/world.hpp"

namespace redlock::sim {

using std::chrono::nanoseconds;

/// The world's time, and what is to happen in it. Time goes from event to event.
class schedule final : public testing::world
{
public:
    [[nodiscard]] nanoseconds elapsed() const override { return now_; }

    /// Unlike other worlds: `what` is called in place, and gets to a strand by itself.
    void at(nanoseconds when, std::function<void()> what) override;

    void after(nanoseconds delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Forgets what is to happen.
    void clear() { queue_.clear(); }

    /// Goes to the next event and calls it. @return False if there is none.
    bool step();

    /// The time of the next event; `nanoseconds::max()` if there is none.
    [[nodiscard]] nanoseconds next() const noexcept;

    /// How many events have happened.
    [[nodiscard]] std::size_t events() const noexcept { return events_; }

private:
    struct event
    {
        nanoseconds when;
        std::uint64_t serial;
        std::function<void()> what;
    };

    static bool later(const event& a, const event& b) noexcept
    {
        return a.when != b.when ? a.when > b.when : a.serial > b.serial;
    }

    nanoseconds now_{0};
    std::uint64_t serial_ = 0;
    std::size_t events_ = 0;
    std::vector<event> queue_;  ///< A heap.
};

}  // namespace redlock::sim

#endif
