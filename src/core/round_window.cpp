#include "core/round_window.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

namespace {

using namespace std::chrono_literals;

/// With so many under way commands share scripts, and a node is always busy. Lost rounds leave as
/// many: nodes that are silent for a while are not slow.
constexpr double first = 64;

/// Slow rounds leave so many. Nodes that are slow, or that many clients share, need a small window:
/// a token must not be too old when its turn comes.
constexpr double smallest = 4;

/// No window is larger: a node takes no more commands at a time than twice that.
constexpr double largest = static_cast<double>(max_unanswered) / 2;

/// A shortest round counts for one to two of these. Then the way to the nodes may have changed.
constexpr nanoseconds epoch = 10s;

}  // namespace

round_window::round_window(nanoseconds patience) noexcept : patience_(patience), size_(first) {}

void round_window::on_round(
    time_point started,
    time_point now,
    std::size_t under_way,
    bool answered
) noexcept
{
    const nanoseconds took = now - started;
    if (answered)
        note_duration(took, now);
    if (answered && was_quick(took))
        grow(under_way);
    else
        cut(started, now, answered ? smallest : first);
}

void round_window::start_again() noexcept
{
    size_ = std::min(size_, first);
    was_cut_ = false;
}

nanoseconds round_window::shortest() const noexcept
{
    const nanoseconds known = std::min(shortest_, shortest_before_);
    return known == nanoseconds::max() ? nanoseconds(0) : known;
}

void round_window::note_duration(nanoseconds took, time_point now) noexcept
{
    if (now >= epoch_end_)
    {
        shortest_before_ = std::exchange(shortest_, nanoseconds::max());
        epoch_end_ = now + epoch;
    }
    shortest_ = std::min(shortest_, took);
}

bool round_window::was_quick(nanoseconds took) const noexcept
{
    // The shortest one was in a queue too, if it took longer than the patience.
    return took - std::min(shortest(), patience_) <= patience_ / 4;
}

void round_window::grow(std::size_t under_way) noexcept
{
    // A window that is not in use limits nothing, and says nothing of a larger one.
    if (2 * under_way >= size())
        size_ = std::min(size_ + (was_cut_ ? 1 / size_ : 1), largest);
}

void round_window::cut(time_point started, time_point now, double least) noexcept
{
    // A round that began before the last cut tells of the window before.
    if (started < last_cut_)
        return;
    last_cut_ = now;
    was_cut_ = true;
    size_ = std::max(size_ * 2 / 3, std::min(size_, least));
}

}  // namespace redlock::core
