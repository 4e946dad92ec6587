#ifndef REDLOCK_SRC_CORE_RECENT_MINIMUM_HPP
#define REDLOCK_SRC_CORE_RECENT_MINIMUM_HPP

#include "core/instant.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

/// The shortest duration of the current epoch and the previous one. What is older may no longer be
/// true: the route to a node may have changed.
class recent_minimum
{
public:
    explicit recent_minimum(nanoseconds epoch) noexcept : epoch_(epoch) {}

    void add(nanoseconds took, time_point now) noexcept
    {
        if (now >= epoch_end_)
        {
            before_ = std::exchange(current_, nanoseconds::max());
            epoch_end_ = now + epoch_;
        }
        current_ = std::min(current_, took);
    }

    /// The longest that a duration can be if there was none.
    [[nodiscard]] nanoseconds value() const noexcept { return std::min(current_, before_); }

private:
    nanoseconds epoch_;
    nanoseconds current_ = nanoseconds::max();
    nanoseconds before_ = nanoseconds::max();
    time_point epoch_end_{};
};

}  // namespace redlock::core

#endif
