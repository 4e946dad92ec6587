#include "testing/manual_time.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

/// The two clocks start apart, so that mixing them up shows.
constexpr core::instant beginning{time_point(1h), 5h};

/// Locked to change or read the clocks of any client, because a lease may be asked on any thread.
std::mutex clocks;

}  // namespace

class manual_time::manual_alarm final : public detail::alarm
{
public:
    explicit manual_alarm(manual_time& of) : time_(of) {}

    void set(time_point at, std::function<void()> what) override
    {
        cancel();
        plan_ = std::make_shared<plan>(std::move(what));
        call_at(at);
    }

    void hurry() noexcept override
    {
        if (plan_)
            call_at(time_.now_.steady);
    }

    void cancel() noexcept override
    {
        // It may own the owner of this.
        const auto dropped = std::move(plan_);
    }

private:
    void call_at(time_point at)
    {
        time_.plans_.emplace(at, plan_);
        time_.post_due();
    }

    manual_time& time_;
    std::shared_ptr<plan> plan_;
};

manual_time::manual_time(detail::strand_type strand) : strand_(std::move(strand)), now_(beginning)
{
}

core::instant manual_time::now() const noexcept
{
    const std::lock_guard lock(clocks);
    if (per_look_ > nanoseconds(0))
    {
        elapsed_ += per_look_;
        now_.steady += per_look_;
        now_.boot += per_look_;
    }
    return now_;
}

std::chrono::microseconds manual_time::wall() const noexcept
{
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(elapsed_);
    return beginning_of_time + elapsed + wall_offset_;
}

std::unique_ptr<detail::alarm> manual_time::make_alarm()
{
    return std::make_unique<manual_alarm>(*this);
}

void manual_time::at(nanoseconds when, std::function<void()> what)
{
    events_.emplace(when, std::move(what));
    post_due();
}

void manual_time::advance(nanoseconds by)
{
    elapsed_ += by;
    {
        const std::lock_guard lock(clocks);
        if (steady_runs_)
            now_.steady += by;
        if (boot_runs_)
            now_.boot += by;
    }
    post_due();
}

std::optional<nanoseconds> manual_time::next() const
{
    std::optional<nanoseconds> result;
    if (!events_.empty())
        result = events_.begin()->first;
    const auto first = std::ranges::find_if(plans_, [](const auto& each) {
        const auto set = each.second.lock();
        return set && *set;
    });
    if (first != plans_.end() && steady_runs_)
    {
        const nanoseconds due = elapsed_ + (first->first - now_.steady);
        result = std::min(result.value_or(due), due);
    }
    return result;
}

void manual_time::jump(clock which, nanoseconds by)
{
    {
        const std::lock_guard lock(clocks);
        if (which == clock::steady)
            now_.steady += by;
        else
            now_.boot += by;
    }
    post_due();
}

void manual_time::post_due()
{
    while (!events_.empty() && events_.begin()->first <= elapsed_)
    {
        auto due = events_.extract(events_.begin());
        asio::post(strand_, std::move(due.mapped()));
    }
    while (!plans_.empty() && plans_.begin()->first <= now_.steady)
    {
        auto due = plans_.extract(plans_.begin());
        asio::post(strand_, [due = std::move(due.mapped())]() {
            if (const auto set = due.lock(); set && *set)
                std::exchange(*set, nullptr)();
        });
    }
}

}  // namespace redlock::testing
