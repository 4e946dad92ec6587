#include "client/hold.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

hold::hold(
    std::shared_ptr<client_impl> client,
    const acquire_options& options,
    std::shared_ptr<round> granted_by,
    core::instant valid_until
)
    : client_(std::move(client)),
      ttl_(options.ttl),
      longest_ttl_(options.ttl),
      granted_by_(std::move(granted_by)),
      limit_(core::shifted(granted_by_->started(), options.hold_max)),
      valid_until_(valid_until)
{
}

lease hold::make_lease(std::shared_ptr<hold> held) noexcept
{
    return lease(std::move(held));
}

bool hold::beyond_limit(core::instant until) const noexcept
{
    return until.steady > limit_.steady || until.boot > limit_.boot;
}

core::instant hold::valid_until() const noexcept
{
    const std::lock_guard lock(mutex_);
    return valid_until_;
}

bool hold::over_at(core::instant now) const noexcept
{
    const std::lock_guard lock(mutex_);
    return ended_ || core::reached(now, valid_until_);
}

bool hold::prolong(core::instant now, core::instant valid_until) noexcept
{
    const std::lock_guard lock(mutex_);
    if (ended_ || core::reached(now, valid_until_))
        return false;

    valid_until_.steady = std::max(valid_until_.steady, valid_until.steady);
    valid_until_.boot = std::max(valid_until_.boot, valid_until.boot);
    return true;
}

bool hold::end() noexcept
{
    const std::lock_guard lock(mutex_);
    return !std::exchange(ended_, true);
}

}  // namespace redlock::detail
