#include "loop/waiting_list.hpp"

#include <cstddef>

namespace redlock::detail {

void waiting_list::wake_all(error_code outcome)
{
    outcome_ = outcome;
    to_wake_.splice(to_wake_.end(), waiting_);
    if (!deferred::is_linked())
        on_turn_end();
}

void waiting_list::on_turn_end()
{
    for (std::size_t budget = turn::max_tasks; budget > 0 && !to_wake_.empty(); --budget)
    {
        suspension& next = to_wake_.front();
        to_wake_.pop_front();
        woken_.push_back(next);
        next.wake(outcome_);
    }
    if (!to_wake_.empty())
        turn_.defer_to_next(*this);
}

void waiting_list::drop_all() noexcept
{
    deferred::unlink();
    for (suspension::list* each : {&waiting_, &to_wake_, &woken_})
    {
        while (!each->empty())
            each->front().drop();
    }
}

}  // namespace redlock::detail
