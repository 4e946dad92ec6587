#include "loop/turn.hpp"

#include <redlock/detail/deliver.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

turn::turn(asio::any_io_executor executor, strand_type strand)
    : executor_(std::move(executor)), strand_(std::move(strand))
{
}

void turn::defer(deferred& task)
{
    put_off(task, tasks_);
}

void turn::defer_write(deferred& task)
{
    put_off(task, writes_);
}

void turn::defer_to_next(deferred& task)
{
    if (!task.is_linked())
        next_.push_back(task);
    if (!posted_)
        post_end();
}

void turn::defer_last(deferred& task)
{
    put_off(task, last_);
}

void turn::defer_first(deferred& task)
{
    task.unlink();
    tasks_.push_front(task);
    schedule();
}

void turn::put_off(deferred& task, task_list& to)
{
    if (!task.is_linked())
        to.push_back(task);
    schedule();
}

void turn::schedule()
{
    if (!working_ && !posted_)
        post_end();
}

void turn::post_end()
{
    auto arrive = [self = shared_from_this()]() noexcept {
        enter(self->strand_, [self]() { self->on_posted_end(); });
    };
    post(executor_, std::make_unique<posted_function<decltype(arrive)>>(std::move(arrive)));
    posted_ = true;
}

void turn::on_posted_end()
{
    posted_ = false;
    tasks_.splice(tasks_.end(), next_);
    if (std::exchange(behind_, false))
        post_end();
    else if (!working_)
        end();
}

void turn::end()
{
    if (!tasks_.empty() || !writes_.empty() || !last_.empty())
        work_off();
    if (!tasks_.empty())
        return schedule();
    if (!std::exchange(again_, false))
        return;
    // An end that is already in the loop comes too early.
    if (posted_)
        behind_ = true;
    else
        post_end();
}

void turn::work_off()
{
    // A task may defer others, or itself again. So a batch that a resumed coroutine adds to is
    // still written in this turn.
    working_ = true;
    if (first_)
        first_();
    std::size_t budget = max_tasks;
    while (deferred* const task = take_next(budget))
        task->on_turn_end();
    working_ = false;
}

/// @return Null if enough tasks are done and everything is written.
deferred* turn::take_next(std::size_t& budget)
{
    const bool goes_on = budget > 0 && !tasks_.empty();
    task_list& from = goes_on ? tasks_ : !writes_.empty() ? writes_ : last_;
    if (from.empty())
        return nullptr;
    budget -= goes_on;
    deferred& task = from.front();
    from.pop_front();
    return &task;
}

}  // namespace redlock::detail
