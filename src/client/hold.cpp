#include "client/hold.hpp"

#include <redlock/detail/recycling.hpp>

#include "client/client_impl.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

/// Ends `left` at once, and lets `then` finish that on the strand of its client: in place if this
/// is there, or what the program starts next would overtake it.
template <class Then>
void end_in_background(std::shared_ptr<share> left, Then then) noexcept
{
    client_impl& client = *left->held()->client();
    // In a child process this is a copy, and what it stands for belongs to the parent.
    if (!client.life.at_home())
        return;
    const auto ended = left->end();
    if (ended == share::end_of::nothing)
        return;
    enter(client.loop.strand, [left = std::move(left), ended, then]() {
        hold& held = *left->held();
        if (ended == share::end_of::hold)
            then(held);
        else
            held.on_lease_end();
    });
}

}  // namespace

hold::hold(
    std::shared_ptr<client_impl> client,
    const vote_round& granted_by,
    core::queue_place queued,
    core::instant valid_until
)
    : client_(std::move(client)),
      granted_by_(std::static_pointer_cast<vote_round>(granted_by.shared())),
      queued_(queued),
      limit_(core::shifted(granted_by.started(), wanted().options.hold_max)),
      valid_until_(valid_until)
{
    longest_ttl = wanted().options.ttl;
    if (wanted().options.auto_extend)
        extended_by = longest_ttl;
}

void hold::on_admitted(place taken)
{
    client_->held.start_extension(kept, std::move(taken));
}

void hold::interrupt()
{
    for (suspension::list* waiting : {&lost_waiting, &prolonging})
    {
        for (suspension& each : *waiting)
            each.wake(asio::error::operation_aborted);
    }
}

void hold::on_lease_end()
{
    for (suspension& each : lost_waiting)
        each.wake({});
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
    return is_over(now);
}

bool hold::is_over(core::instant now) const noexcept
{
    expired_ = expired_ || core::reached(now, valid_until_);
    return ended_ || expired_;
}

error_code hold::loss() const noexcept
{
    const std::lock_guard lock(mutex_);
    return loss_;
}

bool hold::lost_at(core::instant now) const noexcept
{
    const std::lock_guard lock(mutex_);
    return is_lost(now);
}

bool hold::lost_at(core::instant now, const share& of) const noexcept
{
    const std::lock_guard lock(mutex_);
    return of.left_ ? of.was_lost_ : is_lost(now);
}

bool hold::is_lost(core::instant now) const noexcept
{
    return loss_ || core::reached(now, valid_until_);
}

error_code hold::last_extension() const noexcept
{
    const std::lock_guard lock(mutex_);
    return last_extension_;
}

bool hold::is_shared() const noexcept
{
    const std::lock_guard lock(mutex_);
    return leases_ > 1;
}

bool hold::join(core::instant now) noexcept
{
    const std::lock_guard lock(mutex_);
    if (is_over(now))
        return false;
    ++leases_;
    return true;
}

bool hold::leave(share& left) noexcept
{
    const std::lock_guard lock(mutex_);
    // The clock is read for those who attend to it, for that takes time.
    left.was_lost_ = loss_ || expired_ || (left.attending_ > 0 && is_lost(client_->now()));
    left.left_ = true;
    attending_ -= std::exchange(left.attending_, 0);
    if (--leases_ > 0)
        return false;
    ended_ = true;
    return true;
}

void hold::begin_attention(share& to) noexcept
{
    const std::lock_guard lock(mutex_);
    if (to.left_)
        return;
    ++to.attending_;
    ++attending_;
}

void hold::end_attention(share& to) noexcept
{
    const std::lock_guard lock(mutex_);
    if (to.left_)
        return;
    --to.attending_;
    --attending_;
}

void hold::begin_extension(milliseconds ttl) noexcept
{
    longest_ttl = std::max(longest_ttl, ttl);
    extension_tried = true;
}

void hold::note_extension(error_code outcome) noexcept
{
    const std::lock_guard lock(mutex_);
    last_extension_ = outcome;
}

bool hold::prolong(core::instant now, core::instant valid_until) noexcept
{
    const std::lock_guard lock(mutex_);
    if (is_over(now))
        return false;
    valid_until_.steady = std::max(valid_until_.steady, valid_until.steady);
    valid_until_.boot = std::max(valid_until_.boot, valid_until.boot);
    return true;
}

bool hold::end(error_code loss) noexcept
{
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true))
        return false;
    loss_ = loss;
    return true;
}

bool hold::end_unattended() noexcept
{
    const std::lock_guard lock(mutex_);
    return attending_ == 0 && !std::exchange(ended_, true);
}

std::shared_ptr<share> share::join(std::shared_ptr<hold> held, milliseconds ttl, core::instant now)
{
    hold& joined = *held;
    auto made = make_recycled<share>(std::move(held), ttl);
    return joined.join(now) ? made : nullptr;
}

lease share::make_lease(std::shared_ptr<share> of) noexcept
{
    return lease(std::move(of));
}

share::end_of share::end() noexcept
{
    if (ended_.exchange(true))
        return end_of::nothing;
    return hold_->leave(*this) ? end_of::hold : end_of::lease;
}

void share::release_in_background(std::shared_ptr<share> left) noexcept
{
    end_in_background(std::move(left), [](hold& held) { held.client()->held.give_back(held); });
}

void share::abandon(std::shared_ptr<share> left) noexcept
{
    end_in_background(std::move(left), [](hold& held) {
        held.granted_by().abandon();
        held.client()->held.remove(held);
    });
}

}  // namespace redlock::detail
