#include "sim/processors.hpp"

#include <utility>

namespace redlock::sim {

processors::task& processors::add_task(costs of)
{
    task& added = tasks_.emplace_back();
    added.costs_ = of;
    return added;
}

void processors::put(task& of, std::function<void()> what)
{
    of.arrived_.push_back(std::move(what));
    if (std::exchange(of.is_ready_, true))
        return;
    ready_.push_back(&of);
    start_tasks();
}

void processors::clear()
{
    for (task& each : tasks_)
        each.arrived_.clear();
}

void processors::start_tasks()
{
    for (; idle_ > 0 && !ready_.empty(); --idle_)
    {
        task& next = *ready_.front();
        ready_.pop_front();
        auto taken = std::exchange(next.arrived_, {});
        const auto count = static_cast<nanoseconds::rep>(taken.size());
        time_.after(
            next.costs_.base + next.costs_.each * count,
            [this, &next, taken = std::move(taken)]() { finish(next, taken); }
        );
    }
}

void processors::finish(task& of, const std::vector<std::function<void()>>& taken)
{
    for (const auto& what : taken)
        what();
    ++idle_;
    of.is_ready_ = !of.arrived_.empty();
    if (of.is_ready_)
        ready_.push_back(&of);
    start_tasks();
}

}  // namespace redlock::sim
