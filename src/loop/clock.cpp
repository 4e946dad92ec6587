#include "loop/clock.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <utility>

namespace redlock::detail {

namespace {

using std::chrono::steady_clock;

class steady_alarm final : public alarm
{
public:
    explicit steady_alarm(const strand_type& strand) : timer_(strand) {}
    ~steady_alarm() override { cancel(); }

    steady_alarm(const steady_alarm&) = delete;
    steady_alarm& operator=(const steady_alarm&) = delete;

    void set(core::nanoseconds after, std::function<void()> what) override
    {
        cancel();
        auto plan = std::make_shared<std::function<void()>>(std::move(what));
        timer_.expires_after(after);
        // The error code does not matter: a cancelled plan is empty, a hurried one is not.
        timer_.async_wait([plan](boost::system::error_code) {
            if (const auto planned = std::exchange(*plan, nullptr))
                planned();
        });
        plan_ = plan;
    }

    void hurry() noexcept override { timer_.cancel(); }

    void cancel() noexcept override
    {
        // The plan may own whoever owns this alarm, so it goes last.
        std::function<void()> dropped;
        if (const auto plan = plan_.lock())
            dropped.swap(*plan);
        timer_.cancel();
    }

private:
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, strand_type> timer_;
    std::weak_ptr<std::function<void()>> plan_;  ///< The wait owns it.
};

class system_clock final : public clock
{
public:
    explicit system_clock(const strand_type& strand) : strand_(strand) {}

    time_point now() const noexcept override { return steady_clock::now(); }

    std::unique_ptr<alarm> make_alarm() override { return std::make_unique<steady_alarm>(strand_); }

private:
    strand_type strand_;
};

}  // namespace

std::shared_ptr<clock> make_steady_clock(const strand_type& strand)
{
    return std::make_shared<system_clock>(strand);
}

}  // namespace redlock::detail
