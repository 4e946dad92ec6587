#ifndef REDLOCK_SRC_CORE_SMOOTHED_HPP
#define REDLOCK_SRC_CORE_SMOOTHED_HPP

#include "core/instant.hpp"

namespace redlock::core {

/// A duration averaged with weight 1/8 for the newest sample, as TCP averages its round trips.
class smoothed
{
public:
    void add(nanoseconds sample) noexcept
    {
        value_ = value_ == nanoseconds(0) ? sample : value_ + (sample - value_) / 8;
    }

    /// The average, or zero before the first sample.
    [[nodiscard]] nanoseconds value() const noexcept { return value_; }

private:
    nanoseconds value_{0};
};

}  // namespace redlock::core

#endif
