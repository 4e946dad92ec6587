#include "core/round_window.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

namespace {

using namespace std::chrono_literals;

/// With this many under way, commands share scripts and a node is always busy. Lost rounds don't
/// cut the window below this, because nodes that are silent for a while aren't slow.
constexpr double first = 64;

/// Slow rounds don't cut the window below this. Nodes that are slow or shared by many clients need
/// a small window, so that a token isn't too old when its turn comes.
constexpr double smallest = 4;

/// No window is larger, because a node takes at most twice as many commands at a time.
constexpr double largest = static_cast<double>(max_unanswered) / 2;

/// A shortest round counts for one to two of these.
constexpr nanoseconds epoch = 10s;

}  // namespace

round_window::round_window(nanoseconds patience) noexcept
    : patience_(patience), size_(first), shortest_(epoch)
{
}

void round_window::on_round(
    time_point started,
    time_point now,
    std::size_t under_way,
    bool answered
) noexcept
{
    const nanoseconds took = now - started;
    if (answered)
        shortest_.add(took, now);
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
    const nanoseconds known = shortest_.value();
    return known == nanoseconds::max() ? nanoseconds(0) : known;
}

bool round_window::was_quick(nanoseconds took) const noexcept
{
    // If the shortest round took longer than the patience, it waited in queues too.
    return took - std::min(shortest(), patience_) <= patience_ / 4;
}

void round_window::grow(std::size_t under_way) noexcept
{
    // A window that isn't in use limits nothing, and says nothing about a larger one.
    if (2 * under_way >= size())
        size_ = std::min(size_ + (was_cut_ ? 1 / size_ : 1), largest);
}

void round_window::cut(time_point started, time_point now, double least) noexcept
{
    // A round that began before the last cut says something about the previous window.
    if (started < last_cut_)
        return;
    last_cut_ = now;
    was_cut_ = true;
    size_ = std::max(size_ * 2 / 3, std::min(size_, least));
}

}  // namespace redlock::core
