#include "core/hold_state.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

bool hold_state::over_at(instant now) noexcept
{
    expired_ = expired_ || reached(now, valid_until_);
    return expired_ || end_ != hold_end::none;
}

hold_phase hold_state::phase_at(instant now) noexcept
{
    if (over_at(now))
        return hold_phase::over;
    return revoked_ ? hold_phase::revoked : hold_phase::held;
}

bool hold_state::lost_at(instant now) const noexcept
{
    return is_loss() || reached(now, valid_until_);
}

bool hold_state::join(instant now) noexcept
{
    if (phase_at(now) != hold_phase::held)
        return false;
    ++leases_;
    return true;
}

lease_end hold_state::leave(lease_part& part, std::optional<instant> now, leaving how) noexcept
{
    if (std::exchange(part.ended, true))
        return lease_end::nothing;
    part.was_lost = is_loss() || expired_ || (now && lost_at(*now));
    lost_and_dropped_ |= part.was_lost && how == leaving::drop;
    attending_ -= std::exchange(part.attending, 0);
    if (--leases_ > 0)
        return lease_end::lease;
    left_too_late_ = part.was_lost;
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

key_fate hold_state::keys_after() const noexcept
{
    if (end_ == hold_end::given_back && !left_too_late_)
        return at_least_ > milliseconds(0) ? key_fate::kept : key_fate::deleted;
    // A lost hold has nothing to keep, and a minority of keys would only be in the way.
    const bool has_stopped = leases_ == 0 && !lost_and_dropped_;
    return grace_ > milliseconds(0) && !has_stopped ? key_fate::left : key_fate::deleted;
}

bool hold_state::finish(hold_end how) noexcept
{
    if (end_ != hold_end::none)
        return false;
    end_ = how;
    return true;
}

}  // namespace redlock::core
