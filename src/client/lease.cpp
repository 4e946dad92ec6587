#include <redlock/lease.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"

#include <boost/asio/error.hpp>

#include <optional>
#include <utility>

namespace redlock {

namespace detail {

namespace {

/// Ends `leaving` at once and lets `then` finish on the strand of its client: in place if already
/// there, or what the program starts next would overtake it.
template <class Then>
void end_in_background(std::shared_ptr<share> leaving, Then then) noexcept
{
    client_impl& client = *leaving->held()->client();
    // In a child process this is a copy, and what it represents belongs to the parent.
    if (!client.life.at_home())
        return;
    const auto ended = leaving->end(core::leaving::drop);
    if (ended == core::lease_end::nothing)
        return;
    enter(client.loop.strand, [leaving = std::move(leaving), ended, then]() {
        hold& held = *leaving->held();
        if (ended == core::lease_end::hold)
            return then(held);
        held.on_lease_end();
    });
}

}  // namespace

core::lease_end share::end(core::leaving how) noexcept
{
    const auto state = hold_->state();
    std::optional<core::instant> now;
    if (state->needs_time_of_end(part_))
        now = hold_->client()->now();
    return state->leave(part_, now, how);
}

void share::release_in_background(std::shared_ptr<share> leaving) noexcept
{
    end_in_background(std::move(leaving), [](hold& held) { held.client()->holds.give_back(held); });
}

void share::abandon(std::shared_ptr<share> leaving) noexcept
{
    end_in_background(std::move(leaving), [](hold& held) {
        held.granted_by().abandon();
        held.client()->holds.remove(held);
    });
}

}  // namespace detail

error_code detail::loss_of(const lease& held, error_code waited)
{
    const bool ended_first =
        waited == boost::asio::error::operation_aborted || waited == error::not_running;
    if (!ended_first && waited != error::revoked)
        return waited;
    // No loss was reported, because the owner or the client ended first, or heard of a revocation.
    // The clock knows.
    const auto& share = held.share_;
    if (share && share->lost_at(share->held()->client()->now()))
        return error::lease_lost;
    return ended_first ? error_code() : waited;
}

std::shared_ptr<const void> detail::attend(const lease& held)
{
    return held.share_ ? std::make_shared<share::attention>(held.share_) : nullptr;
}

lease::lease(std::shared_ptr<detail::share> share) noexcept : share_(std::move(share)) {}

lease& lease::operator=(lease&& other) noexcept
{
    auto released = lease(std::exchange(share_, std::move(other.share_)));
    return *this;
}

lease::~lease()
{
    if (share_)
        detail::share::release_in_background(std::move(share_));
}

std::string_view lease::resource() const noexcept
{
    return share_ ? share_->held()->resource() : std::string_view();
}

fencing_token lease::fence() const noexcept
{
    return share_ ? share_->held()->fence() : fencing_token();
}

time_point lease::valid_until() const noexcept
{
    return share_ ? share_->held()->valid_until().steady : time_point();
}

milliseconds lease::remaining() const noexcept
{
    if (!share_)
        return milliseconds(0);
    const detail::hold& held = *share_->held();
    const core::instant now = held.client()->now();
    if (share_->over_at(now))
        return milliseconds(0);
    return std::chrono::floor<milliseconds>(core::remaining(now, held.valid_until()));
}

bool lease::expired() const noexcept
{
    return !share_ || share_->over_at(share_->held()->client()->now());
}

std::size_t lease::votes() const noexcept
{
    return share_ ? share_->held()->standing().count() : 0;
}

bool lease::revoked() const noexcept
{
    return share_ && share_->held()->revoked();
}

error_code lease::last_extension() const noexcept
{
    return share_ ? share_->held()->last_extension() : error_code();
}

void lease::abandon() noexcept
{
    if (share_)
        detail::share::abandon(std::move(share_));
}

detail::lease_executor lease::runs_on() const
{
    return share_ ? detail::lease_executor(share_->held()->client()->executor)
                  : detail::lease_executor();
}

}  // namespace redlock
