#include "loop/clock.hpp"

#include "loop/platform.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

using std::chrono::steady_clock;

/// Each wait owns the function it is to call, which may own the owner of this alarm. So nothing is
/// left if the execution context is destroyed. A wait that is no longer the last calls nothing.
class system_alarm final : public alarm
{
public:
    explicit system_alarm(const strand_type& strand) : timer_(strand) {}

    void set(time_point at, std::function<void()> what) override
    {
        timer_.expires_at(at);
        // It may be destroyed on any thread. The error code is ignored: a hurried wait calls too.
        timer_.async_wait([what = std::move(what),
                           last = std::weak_ptr(last_),
                           own = ++*last_](boost::system::error_code) noexcept {
            const auto still = last.lock();
            if (still && *still == own)
                what();
        });
    }

    void hurry() noexcept override { timer_.cancel(); }

    void cancel() noexcept override
    {
        ++*last_;
        timer_.cancel();
    }

private:
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, strand_type> timer_;
    std::shared_ptr<std::uint64_t> last_ = std::make_shared<std::uint64_t>(0);
};

class system_clock final : public clock
{
public:
    explicit system_clock(const strand_type& strand) : strand_(strand) {}

    core::instant now() const noexcept override
    {
        return {steady_clock::now(), platform::boot_time()};
    }

    std::chrono::microseconds wall() const noexcept override
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::microseconds>(now);
    }

    std::unique_ptr<alarm> make_alarm() override { return std::make_unique<system_alarm>(strand_); }

private:
    strand_type strand_;
};

}  // namespace

std::shared_ptr<clock> make_system_clock(const strand_type& strand)
{
    return std::make_shared<system_clock>(strand);
}

}  // namespace redlock::detail
