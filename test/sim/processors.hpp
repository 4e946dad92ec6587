#ifndef REDLOCK_TEST_SIM_PROCESSORS_HPP
#define REDLOCK_TEST_SIM_PROCESSORS_HPP

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "sim/schedule.hpp"

namespace redlock::sim {

/** The processors of a machine, shared by its processes and servers.

    Each of them is a task. A task with deliveries waits for a processor, first come first served.
    There it takes all that have arrived by then, as a loop of events does. That costs a base and so
    much for each. Their effects show at the end of that time.
*/
class processors
{
public:
    /// What a task costs whenever it runs.
    struct costs
    {
        nanoseconds base{0};
        nanoseconds each{0};  ///< Of the deliveries.
    };

    class task
    {
    private:
        friend class processors;

        costs costs_;
        std::vector<std::function<void()>> arrived_;
        bool is_ready_ = false;  ///< It waits for a processor or has one.
    };

    processors(schedule& time, std::size_t count) noexcept : time_(time), idle_(count) {}
    processors(const processors&) = delete;
    processors& operator=(const processors&) = delete;

    /// Lives as long as the processors do.
    [[nodiscard]] task& add_task(costs of);

    /// Lets a task call `what`, after everything that has arrived for it before.
    void put(task& of, std::function<void()> what);

    /// Forgets what has arrived.
    void clear();

private:
    void start_tasks();
    void finish(task& of, const std::vector<std::function<void()>>& taken);

    schedule& time_;
    std::size_t idle_;
    std::deque<task> tasks_;
    std::deque<task*> ready_;
};

}  // namespace redlock::sim

#endif
