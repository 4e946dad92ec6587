#include <redlock/lease.hpp>

#include "client/operations.hpp"
#include "client/spawn_op.hpp"

#include <boost/asio/system_executor.hpp>

#include <utility>

namespace redlock {

const char* to_string(release_outcome value) noexcept
{
    switch (value)
    {
    case release_outcome::released: return "released";
    case release_outcome::already_gone: return "already gone";
    case release_outcome::unconfirmed: return "unconfirmed";
    }
    return "unknown";
}

lease::lease(std::shared_ptr<detail::hold> hold) noexcept : hold_(std::move(hold)) {}

lease& lease::operator=(lease&& other) noexcept
{
    auto released = lease(std::exchange(hold_, std::move(other.hold_)));
    return *this;
}

lease::~lease()
{
    if (hold_)
        detail::client_impl::release_in_background(std::move(hold_));
}

std::string_view lease::resource() const noexcept
{
    return hold_ ? hold_->resource() : std::string_view();
}

fencing_token lease::fence() const noexcept
{
    return hold_ ? hold_->fence() : fencing_token();
}

time_point lease::valid_until() const noexcept
{
    return hold_ ? hold_->valid_until().steady : time_point();
}

milliseconds lease::remaining() const noexcept
{
    if (!hold_)
        return milliseconds(0);
    const core::instant now = hold_->client()->now();
    if (hold_->over_at(now))
        return milliseconds(0);
    return std::chrono::floor<milliseconds>(core::remaining(now, hold_->valid_until()));
}

bool lease::expired() const noexcept
{
    return !hold_ || hold_->over_at(hold_->client()->now());
}

void lease::abandon() noexcept
{
    hold_.reset();
}

boost::asio::any_io_executor lease::executor_of(const std::shared_ptr<detail::hold>& hold)
{
    if (hold)
        return hold->client()->executor();
    return boost::asio::system_executor();
}

void lease::start_extend(
    std::shared_ptr<detail::hold> hold,
    std::optional<milliseconds> ttl,
    boost::asio::any_completion_handler<void(error_code)> handler
)
{
    if (!hold)
        return std::move(handler)(error::invalid_argument);

    const milliseconds wanted = ttl.value_or(hold->ttl());
    detail::spawn_op(*hold->client(), detail::extend(hold, wanted), std::move(handler));
}

void lease::start_release(
    std::shared_ptr<detail::hold> hold,
    boost::asio::any_completion_handler<void(error_code, release_outcome)> handler
)
{
    if (!hold)
        return std::move(handler)(error::invalid_argument, release_outcome());
    // From here on the lease is over, whatever becomes of the release.
    const bool first = hold->end();
    detail::spawn_op(*hold->client(), detail::release(hold, first), std::move(handler));
}

}  // namespace redlock
