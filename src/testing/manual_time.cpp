#include "testing/manual_time.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

/// The two clocks start apart, so that mixing them up shows.
constexpr core::instant beginning{time_point(1h), 5h};

}  // namespace

manual_time::manual_time(detail::strand_type strand) : strand_(std::move(strand)), now_(beginning)
{
}

core::instant manual_time::now() const noexcept
{
    elapsed_ += per_look_;
    now_.steady += per_look_;
    now_.boot += per_look_;
    return now_;
}

std::chrono::microseconds manual_time::wall() const noexcept
{
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(elapsed_);
    return beginning_of_time + elapsed + wall_offset_;
}

void manual_time::async_wait_until(
    time_point at,
    asio::any_completion_handler<void(boost::system::error_code)> handler
)
{
    cancel();
    waiting_ = std::move(handler);
    waiting_until_ = at;
    post_due();
}

void manual_time::cancel() noexcept
{
    if (waiting_)
        end_wait(asio::error::operation_aborted);
}

void manual_time::at(nanoseconds when, std::function<void()> what)
{
    events_.emplace(when, std::move(what));
    post_due();
}

void manual_time::advance(nanoseconds by)
{
    elapsed_ += by;
    if (steady_runs_)
        now_.steady += by;
    if (boot_runs_)
        now_.boot += by;
    post_due();
}

std::optional<nanoseconds> manual_time::next() const
{
    std::optional<nanoseconds> result;
    if (!events_.empty())
        result = events_.begin()->first;
    if (waiting_ && steady_runs_)
    {
        const nanoseconds due = elapsed_ + (waiting_until_ - now_.steady);
        result = std::min(result.value_or(due), due);
    }
    return result;
}

void manual_time::jump(clock which, nanoseconds by)
{
    if (which == clock::steady)
        now_.steady += by;
    else
        now_.boot += by;
    post_due();
}

void manual_time::post_due()
{
    while (!events_.empty() && events_.begin()->first <= elapsed_)
    {
        auto due = events_.extract(events_.begin());
        asio::post(strand_, std::move(due.mapped()));
    }
    if (waiting_ && waiting_until_ <= now_.steady)
        end_wait({});
}

void manual_time::end_wait(boost::system::error_code outcome)
{
    asio::post(strand_, [ended = std::exchange(waiting_, nullptr), outcome]() mutable {
        std::move(ended)(outcome);
    });
}

}  // namespace redlock::testing
