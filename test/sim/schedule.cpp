#include "sim/schedule.hpp"

#include <algorithm>
#include <utility>

namespace redlock::sim {

void schedule::at(nanoseconds when, std::function<void()> what)
{
    queue_.push_back({std::max(when, now_), ++serial_, std::move(what)});
    std::push_heap(queue_.begin(), queue_.end(), later);
}

bool schedule::step()
{
    if (queue_.empty())
        return false;
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const event next = std::move(queue_.back());
    queue_.pop_back();
    now_ = next.when;
    ++events_;
    next.what();
    return true;
}

nanoseconds schedule::next() const noexcept
{
    return queue_.empty() ? nanoseconds::max() : queue_.front().when;
}

}  // namespace redlock::sim
