#include "node/turn.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace redlock::detail {

turn::turn(strand_type strand) : strand_(std::move(strand)) {}

void turn::defer(turn_task& task)
{
    if (task.is_linked())
        return;

    tasks_.push_back(task);
    if (std::exchange(posted_, true))
        return;
    asio::post(strand_, [self = shared_from_this()] { self->end(); });
}

void turn::end()
{
    // A task may put off others, or itself again: a batch that a resumed coroutine adds to is still
    // written in this turn. A coroutine has to wait for a reply sooner or later, so this ends.
    while (!tasks_.empty())
    {
        turn_task& task = tasks_.front();
        tasks_.pop_front();
        task.on_turn_end();
    }
    posted_ = false;
}

}  // namespace redlock::detail
