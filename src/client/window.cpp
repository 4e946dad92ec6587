#include "client/window.hpp"

namespace redlock::detail {

void window::leave() noexcept
{
    count(under_way_, one_less);
    admit_soon();
}

void window::on_round(time_point started, time_point now, bool answered) noexcept
{
    size_.on_round(started, now, under_way() + 1, answered);
    capacity_.store(size_.size(), std::memory_order_relaxed);
    admit_soon();
}

void window::set_closed(bool closed) noexcept
{
    if (std::exchange(closed_, closed) && !closed)
        size_.start_again();
    capacity_.store(closed ? 0 : size_.size(), std::memory_order_relaxed);
    admit_soon();
}

void window::wait(entrant& added, core::nanoseconds rank, order in)
{
    added.in_ = this;
    added.rank_ = rank;
    entrants& to = in == order::first ? first_ : others_;
    to.insert(to.end(), added);
    count(waiting_, 1);
    admit_soon();
}

void window::admit_soon() noexcept
{
    if (may_admit())
        turn_.defer(*this);
}

void window::on_turn_end()
{
    // No more than other turns do, because each may send a round.
    for (std::size_t budget = turn::max_tasks; budget > 0 && may_admit(); --budget)
    {
        count(waiting_, one_less);
        admit_next();
    }
    // A round that fails at once has left again, which must not make this turn longer.
    deferred::unlink();
    if (may_admit())
        turn_.defer_to_next(*this);
}

void window::admit_next()
{
    const bool takes_first = !first_.empty() && (others_.empty() || !was_first_);
    was_first_ = takes_first;
    entrant& next = *(takes_first ? first_ : others_).begin();
    next.unlink();
    next.on_admitted(room(*this));
}

void entrant::give_up() noexcept
{
    if (!is_linked())
        return;
    unlink();
    in_->count(in_->waiting_, window::one_less);
}

void room_wait::on_admitted(room taken)
{
    taken_.emplace(std::move(taken));
    sleep.wake({});
}

}  // namespace redlock::detail
