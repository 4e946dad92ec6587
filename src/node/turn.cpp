#include "node/turn.hpp"

#include <redlock/detail/deliver.hpp>

#include <boost/asio/dispatch.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

turn::turn(const asio::any_io_executor& executor, strand_type strand)
    : executor_(executor), strand_(std::move(strand)), queue_(run_queue::of(strand_))
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

void turn::defer_first(turn_task& task)
{
    task.unlink();
    tasks_.push_front(task);
    schedule();
}

void turn::put_off(turn_task& task, task_list& to)
{
    const bool coming = scheduled_ || posted_ || following_ > 0;
    // No end is coming for a task that was put off when memory was short.
    if (task.is_linked() && coming)
        return;
    if (!task.is_linked())
        to.push_back(task);
    schedule();
}

void turn::schedule()
{
    if (scheduled_)
        return;
    if (!queue_ || !queue_->running())
    {
        if (!posted_ && following_ == 0)
            post_end();
        return;
    }
    queue_->post(make_queued([self = shared_from_this()]() { self->end(); }));
    scheduled_ = true;
}

void turn::post_end()
{
    if (queue_ && queue_->in_reply())
    {
        post_to_strand(&turn::on_following_end);
        ++following_;
    }
    else
    {
        post_to_strand(&turn::on_posted_end);
        posted_ = true;
    }
}

void turn::post_to_strand(void (turn::*function)())
{
    auto call = [self = shared_from_this(), function]() { ((*self).*function)(); };
    auto enter = [this, call = std::move(call)]() {
        if (queue_)
            queue_->dispatch(call);
        else
            asio::dispatch(strand_, call);
    };
    post(executor_, std::make_unique<posted_function<decltype(enter)>>(std::move(enter)));
}

void turn::on_posted_end()
{
    posted_ = false;
    if (std::exchange(behind_, false))
        post_end();
    else
        end();
}

void turn::on_following_end()
{
    if (--following_ == 0)
        end();
}

void turn::end()
{
    scheduled_ = false;
    if (!tasks_.empty() || !last_.empty())
        work_off();
    if (std::exchange(again_, false))
        end_behind_handlers();
}

void turn::end_behind_handlers()
{
    // An end that is in the loop already is too early, or too late if these handlers follow a
    // reply.
    if (posted_ && !(queue_ && queue_->in_reply()))
        behind_ = true;
    else
        post_end();
}

void turn::work_off()
{
    // A task may put off others, or itself again: a batch that a resumed coroutine adds to is still
    // written in this turn. A coroutine has to wait for a reply sooner or later, so this ends.
    scheduled_ = true;
    try
    {
        call_tasks();
    }
    catch (...)
    {
        // Whoever runs the context learns it, and may go on. So must what is left.
        scheduled_ = false;
        schedule();
        throw;
    }
    scheduled_ = false;
}

void turn::call_tasks()
{
    if (first_)
        first_();
    while (!tasks_.empty() || !last_.empty())
    {
        task_list& from = tasks_.empty() ? last_ : tasks_;
        turn_task& task = from.front();
        from.pop_front();
        task.on_turn_end();
        // Lets what is queued go on: mostly the writer of Boost.Redis, which the task woke. So the
        // first node works on its commands while those of the next one are put together.
        if (queue_)
            queue_->go_on();
    }
}

}  // namespace redlock::detail
