#include "support/manual_clock.hpp"

#include <algorithm>
#include <utility>

namespace redlock::test {

class manual_clock::manual_alarm final : public detail::alarm
{
public:
    explicit manual_alarm(manual_clock& of) : clock_(of), plan_(std::make_shared<plan>())
    {
        of.plans_.push_back(plan_);
    }

    ~manual_alarm() override { cancel(); }

    void set(core::nanoseconds after, std::function<void()> what) override
    {
        cancel();
        plan_->due = clock_.now() + after;
        plan_->what = std::move(what);
    }

    void hurry() noexcept override { plan_->due = std::min(plan_->due, clock_.now()); }

    void cancel() noexcept override
    {
        // What is dropped may own whoever owns this.
        const auto kept = plan_;
        std::function<void()> dropped;
        dropped.swap(kept->what);
    }

private:
    manual_clock& clock_;
    std::shared_ptr<plan> plan_;
};

std::unique_ptr<detail::alarm> manual_clock::make_alarm()
{
    return std::make_unique<manual_alarm>(*this);
}

void manual_clock::advance(core::nanoseconds by, const std::function<void()>& between)
{
    const time_point end = now_ + by;
    for (auto next = earliest(); next && next->due <= end; next = earliest())
    {
        now_ = std::max(now_, next->due);
        std::exchange(next->what, nullptr)();
        between();
    }
    now_ = end;
}

std::optional<core::nanoseconds> manual_clock::next() const
{
    const auto first = earliest();
    return first ? std::optional(first->due - now_) : std::nullopt;
}

std::shared_ptr<manual_clock::plan> manual_clock::earliest() const
{
    std::shared_ptr<plan> found;
    for (const auto& each : plans_)
    {
        const auto set = each.lock();
        if (set && set->what && (!found || set->due < found->due))
            found = set;
    }
    return found;
}

}  // namespace redlock::test
