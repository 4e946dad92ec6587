#include "loop/deadlines.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// A timer that is later than this wasn't late by itself: the loop didn't get to it.
constexpr core::nanoseconds noticeable = 10ms;

/// Enough to read whatever has come.
constexpr core::nanoseconds longest_reading = 200ms;

}  // namespace

deadlines::deadlines(std::shared_ptr<clock> time)
    : time_(std::move(time)), alarm_(time_->make_alarm())
{
}

void deadlines::add(deadline& entry, time_point due)
{
    BOOST_ASSERT(!entry.is_linked());

    entry.set_due(due);
    entry.was_put_off_ = false;
    // Rounds all wait for the same time, so a new entry is nearly always the last.
    entries_.insert(entries_.end(), entry);
    if (due < armed_for_)
        arm();
}

void deadlines::stop() noexcept
{
    armed_for_ = time_point::max();
    alarm_->cancel();
}

void deadlines::arm()
{
    armed_for_ = entries_.begin()->due();
    alarm_->set(armed_for_, [self = weak_from_this()]() {
        if (const auto queue = self.lock())
            queue->on_timer();
    });
}

void deadlines::on_timer()
{
    armed_for_ = time_point::max();
    const time_point now = time_->now().steady;
    // The rest runs when the timer fires again at once, after other handlers of the loop. So does
    // what these add, even if it is due already.
    entry_set expired;
    std::size_t budget = max_at_once;
    for (; budget > 0 && !entries_.empty() && entries_.begin()->due() <= now; --budget)
    {
        deadline& next = *entries_.begin();
        next.forget();
        expired.insert(expired.end(), next);
    }
    while (!expired.empty())
    {
        deadline& entry = *expired.begin();
        entry.forget();
        if (!put_off(entry, now))
            entry.on_deadline();
    }
    if (!entries_.empty() && entries_.begin()->due() < armed_for_)
        arm();
}

/// Gives input as much time to be read as the loop was late, once.
bool deadlines::put_off(deadline& entry, time_point now)
{
    const core::nanoseconds late = now - entry.due();
    if (late < noticeable || !entry.awaits_input() || entry.was_put_off_)
        return false;
    add(entry, now + std::min(late, longest_reading));
    entry.was_put_off_ = true;
    return true;
}

}  // namespace redlock::detail
