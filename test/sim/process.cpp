#include "sim/process.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

#include "testing/manual_time.hpp"

namespace redlock::sim {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

/// The two clocks of a client start apart, so that mixing them up shows.
constexpr nanoseconds first_steady = 1h;
constexpr nanoseconds first_boot = 5h;

class process_alarm final : public detail::alarm
{
public:
    process_alarm(process& of, const detail::strand_type& strand)
        : process_(of), strand_(strand), stream_(of.new_stream()), plan_(std::make_shared<plan>())
    {
    }

    ~process_alarm() override { cancel(); }

    void set(time_point at, std::function<void()> what) override
    {
        cancel();
        plan_->what = std::move(what);
        arm(at);
    }

    void hurry() noexcept override
    {
        if (plan_->what)
            arm(process_.now().steady);
    }

    void cancel() noexcept override
    {
        // What is dropped may own whoever owns this.
        const auto kept = plan_;
        ++kept->version;
        std::function<void()> dropped;
        dropped.swap(kept->what);
    }

private:
    struct plan
    {
        std::function<void()> what;
        std::uint64_t version = 0;
    };

    void arm(time_point due)
    {
        const std::weak_ptr<plan> weak = plan_;
        process_.call_at(due, stream_, [weak, version = ++plan_->version, strand = strand_]() {
            if (const auto set = weak.lock(); !set || set->version != version)
                return;
            asio::post(strand, [weak, version]() {
                const auto planned = weak.lock();
                if (planned && planned->version == version && planned->what)
                    std::exchange(planned->what, nullptr)();
            });
        });
    }

    process& process_;
    detail::strand_type strand_;
    std::uint64_t stream_;
    std::shared_ptr<plan> plan_;
};

class process_clock final : public detail::clock
{
public:
    process_clock(process& of, const detail::strand_type& strand) : process_(of), strand_(strand) {}

    core::instant now() const noexcept override { return process_.now(); }
    std::chrono::microseconds wall() const noexcept override { return process_.wall(); }

    std::unique_ptr<detail::alarm> make_alarm() override
    {
        return std::make_unique<process_alarm>(process_, strand_);
    }

private:
    process& process_;
    detail::strand_type strand_;
};

}  // namespace

process::process(schedule& time, trace& told, options how, std::uint64_t seed)
    : time_(time),
      trace_(told),
      how_(std::move(how)),
      dice_(seed),
      clock_(nanoseconds(0), how_.rate),
      wall_(how_.wall_offset, how_.rate)
{
}

core::instant process::now() const noexcept
{
    const nanoseconds passed = clock_.read(time_.elapsed());
    return {time_point(first_steady + passed - lost_), first_boot + passed};
}

std::chrono::microseconds process::wall() const noexcept
{
    const nanoseconds shown = wall_.read(time_.elapsed());
    return testing::beginning_of_time + std::chrono::floor<std::chrono::microseconds>(shown);
}

nanoseconds process::when(time_point steady) const noexcept
{
    // What is far enough away, such as the latest time there is, never comes.
    constexpr nanoseconds never = 24h * 365;
    const nanoseconds shown = steady.time_since_epoch() - first_steady;
    return shown > never ? never : clock_.when(shown + lost_);
}

void process::step_wall(nanoseconds by)
{
    wall_.step(by);
    trace_.note(how_.name, "wall clock is set by ns", by.count());
}

void process::stall(nanoseconds duration)
{
    if (!alive_ || stalled())
        return;
    trace_.note(how_.name, "stands still for ns", duration.count());
    stalled_until_ = time_.elapsed() + duration;
    time_.at(stalled_until_, [this]() { wake(); });
}

void process::suspend(nanoseconds duration)
{
    if (!alive_ || stalled())
        return;
    stall(duration);
    trace_.note(how_.name, "is suspended");
    // As of now: nobody looks at the clock meanwhile but to see how it will be.
    const nanoseconds before = clock_.read(time_.elapsed());
    lost_ += clock_.read(stalled_until_) - before;
}

void process::crash()
{
    if (!std::exchange(alive_, false))
        return;
    trace_.note(how_.name, "ends without a word");
}

void process::bury()
{
    buried_ = true;
    stalled_until_ = nanoseconds(0);
    wake();
}

void process::run_on(processors& shared, processors::costs of)
{
    shared_ = &shared;
    task_ = &shared.add_task(of);
}

void process::deliver(std::uint64_t stream, std::function<void()> what)
{
    if (!shared_ || !running())
        return run(stream, std::move(what));
    shared_->put(*task_, [this, stream, what = std::move(what)]() { run(stream, what); });
}

void process::run(std::uint64_t stream, std::function<void()> what)
{
    const bool gone = !alive_ && !buried_;
    if (gone || stalled() || !waiting_.empty())
        waiting_.emplace_back(stream, std::move(what));
    else
        what();
}

void process::call_at(time_point at, std::uint64_t stream, std::function<void()> what)
{
    nanoseconds due = when(at);
    if (how_.latest_timer > nanoseconds(0) && dice_.below(4) == 0)
        due = std::max(due, time_.elapsed()) + dice_.between(nanoseconds(0), how_.latest_timer);
    time_.at(due, [this, at, stream, what = std::move(what)]() mutable {
        deliver(stream, [this, at, stream, what = std::move(what)]() mutable {
            if (now().steady >= at)
                what();
            else
                call_at(at, stream, std::move(what));
        });
    });
}

/// Everything at once. Timers and bytes mix as they like, the bytes of one connection do not.
void process::wake()
{
    if (stalled() || (!alive_ && !buried_))
        return;
    auto waiting = std::exchange(waiting_, {});
    while (!waiting.empty())
    {
        const std::uint64_t stream = waiting[dice_.below(waiting.size())].first;
        const auto first = std::ranges::find(waiting, stream, &delivery::first);
        const auto what = std::move(first->second);
        waiting.erase(first);
        what();
    }
}

std::shared_ptr<detail::clock> make_process_clock(process& of, const detail::strand_type& strand)
{
    return std::make_shared<process_clock>(of, strand);
}

}  // namespace redlock::sim
