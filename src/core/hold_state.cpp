#include "core/hold_state.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

bool hold_state::over_at(instant now) noexcept
{
    expired_ = expired_ || reached(now, valid_until_);
    return expired_ || end_ != hold_end::none;
}

bool hold_state::lost_at(instant now) const noexcept
{
    return is_loss() || reached(now, valid_until_);
}

bool hold_state::join(instant now) noexcept
{
    if (revoked_ || over_at(now))
        return false;
    ++leases_;
    return true;
}

lease_end hold_state::leave(lease_part& leaving, std::optional<instant> now) noexcept
{
    if (std::exchange(leaving.ended, true))
        return lease_end::nothing;
    leaving.was_lost = is_loss() || expired_ || (now && lost_at(*now));
    attending_ -= std::exchange(leaving.attending, 0);
    if (--leases_ > 0)
        return lease_end::lease;
    left_too_late_ = leaving.was_lost;
    static_cast<void>(finish(hold_end::given_back));
    return lease_end::hold;
}

void hold_state::begin_attention(lease_part& to) noexcept
{
    if (to.ended)
        return;
    ++to.attending;
    ++attending_;
}

void hold_state::end_attention(lease_part& to) noexcept
{
    if (to.ended)
        return;
    --to.attending;
    --attending_;
}

bool hold_state::extend(instant now, instant valid_until) noexcept
{
    if (over_at(now))
        return false;
    valid_until_.steady = std::max(valid_until_.steady, valid_until.steady);
    valid_until_.boot = std::max(valid_until_.boot, valid_until.boot);
    return true;
}

bool hold_state::revoke(instant now) noexcept
{
    return !over_at(now) && !std::exchange(revoked_, true);
}

bool hold_state::finish(hold_end how) noexcept
{
    if (end_ != hold_end::none)
        return false;
    end_ = how;
    return true;
}

}  // namespace redlock::core
