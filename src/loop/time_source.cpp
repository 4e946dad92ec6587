#include "loop/time_source.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_executor.hpp>

#include <chrono>
#include <ctime>
#include <utility>

namespace redlock::detail {

namespace {

using steady_clock = std::chrono::steady_clock;

/// Time since boot. Where a system has no clock that goes on in suspend, the steady clock stands
/// in, and a deadline does not notice a suspension.
core::nanoseconds boot_time() noexcept
{
#ifdef CLOCK_BOOTTIME
    std::timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
        return std::chrono::seconds(now.tv_sec) + core::nanoseconds(now.tv_nsec);
#endif
    return steady_clock::now().time_since_epoch();
}

class system_time final : public time_source
{
public:
    explicit system_time(const strand_type& strand) : strand_(strand), timer_(strand) {}

    core::instant now() const noexcept override { return {steady_clock::now(), boot_time()}; }

    std::chrono::microseconds wall() const noexcept override
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::microseconds>(now);
    }

    void async_wait_until(
        time_point at,
        asio::any_completion_handler<void(boost::system::error_code)> handler
    ) override
    {
        timer_.expires_at(at);
        timer_.async_wait(asio::bind_executor(strand_, std::move(handler)));
    }

    void cancel() noexcept override { timer_.cancel(); }

private:
    strand_type strand_;
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, strand_type> timer_;
};

}  // namespace

std::unique_ptr<time_source> make_system_time(const strand_type& strand)
{
    return std::make_unique<system_time>(strand);
}

}  // namespace redlock::detail
