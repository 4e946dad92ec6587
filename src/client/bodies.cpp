#include "client/bodies.hpp"

#include <algorithm>

namespace redlock::detail {

bool bodies::is_caller(std::string_view resource) const
{
    if (size_.load(std::memory_order_relaxed) == 0)
        return false;
    const std::lock_guard lock(mutex_);
    const auto [first, last] = all_.equal_range(resource);
    return std::any_of(first, last, [](const by_resource::value_type& each) {
        return each.second.running_in_this_thread();
    });
}

bodies::entry::entry(bodies& in, std::string_view resource, const strand_type& strand) : in_(in)
{
    const std::lock_guard lock(in_.mutex_);
    at_ = in_.all_.emplace(resource, strand);
    in_.size_.store(in_.all_.size(), std::memory_order_relaxed);
}

bodies::entry::~entry()
{
    const std::lock_guard lock(in_.mutex_);
    in_.all_.erase(at_);
    in_.size_.store(in_.all_.size(), std::memory_order_relaxed);
}

}  // namespace redlock::detail
