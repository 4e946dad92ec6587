#ifndef REDLOCK_TEST_SUPPORT_REAL_TIME_HPP
#define REDLOCK_TEST_SUPPORT_REAL_TIME_HPP

#include "loop/strand.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "testing/world.hpp"

namespace redlock::test {

using namespace redlock::testing;

/// The world's time as it passes, for fake nodes of a client that runs in threads.
class real_time final : public world
{
public:
    explicit real_time(detail::strand_type strand) : strand_(std::move(strand)) {}

    [[nodiscard]] nanoseconds elapsed() const override { return clock::now() - beginning_; }

    void at(nanoseconds when, std::function<void()> what) override
    {
        const auto due = beginning_ + when;
        if (due <= clock::now())
            return boost::asio::post(strand_, std::move(what));

        const auto timer = std::make_shared<boost::asio::steady_timer>(strand_, due);
        timer->async_wait(boost::asio::bind_executor(
            strand_,
            [timer, what = std::move(what)](boost::system::error_code ec) {
                if (!ec)
                    what();
            }
        ));
    }

private:
    using clock = std::chrono::steady_clock;

    detail::strand_type strand_;
    clock::time_point beginning_ = clock::now();
};

}  // namespace redlock::test

#endif
