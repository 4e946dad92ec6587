#include "node/turn.hpp"

#include <boost/asio/dispatch.hpp>

#include <utility>

namespace redlock::detail {

turn::turn(const asio::any_io_executor& executor, strand_type strand)
    : post_(executor), strand_(std::move(strand))
{
}

void turn::defer(turn_task& task)
{
    put_off(task, tasks_);
}

void turn::defer_last(turn_task& task)
{
    put_off(task, last_);
}

void turn::put_off(turn_task& task, task_list& to)
{
    if (task.is_linked())
        return;

    to.push_back(task);
    if (!scheduled_)
        schedule();
}

void turn::defer_first(turn_task& task)
{
    task.unlink();
    tasks_.push_front(task);
    if (!scheduled_)
        schedule();
}

void turn::schedule()
{
    scheduled_ = false;  // Should the next line throw.
    post_([self = shared_from_this()]() {
        asio::dispatch(self->strand_, [self]() { self->end(); });
    });
    scheduled_ = true;
}

void turn::end()
{
    scheduled_ = false;
    if (tasks_.empty() && last_.empty())
        return;

    // A task may put off others, or itself again: a batch that a resumed coroutine adds to is still
    // written in this turn. A coroutine has to wait for a reply sooner or later, so this ends.
    scheduled_ = true;
    try
    {
        work_off();
    }
    catch (...)
    {
        // Whoever runs the context learns it, and may go on. So must what is left.
        schedule();
        throw;
    }

    scheduled_ = false;
    if (std::exchange(again_, false))
        schedule();
}

void turn::work_off()
{
    if (first_)
        first_();
    while (!tasks_.empty() || !last_.empty())
    {
        task_list& from = tasks_.empty() ? last_ : tasks_;
        turn_task& task = from.front();
        from.pop_front();
        task.on_turn_end();
    }
}

}  // namespace redlock::detail
