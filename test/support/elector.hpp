#ifndef REDLOCK_TEST_SUPPORT_ELECTOR_HPP
#define REDLOCK_TEST_SUPPORT_ELECTOR_HPP

#include <redlock/lead.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/eventually.hpp"
#include "support/fixture.hpp"
#include "support/spawned.hpp"

namespace redlock::test {

/// Valid for 2968 ms. Its body is cancelled 1968 ms after the last extension was sent. A pause and
/// the looks of the watchdog would take real time.
inline constexpr lead_options three_seconds{
    .ttl = milliseconds(3000),
    .pause = milliseconds(0),
    .watchdog = false
};

/// A wait that ends by cancellation only. No clock moves its timer.
inline asio::awaitable<void> until_cancelled()
{
    asio::steady_timer never(
        co_await asio::this_coro::executor, asio::steady_timer::time_point::max()
    );
    co_await never.async_wait(asio::deferred);
}

/// A program that leads on fake nodes. Its body runs until it is cancelled, and takes note.
struct elector : running_client
{
    explicit elector(const setup& how = {}) : running_client(how) {}

    std::size_t begun = 0;
    std::size_t ended = 0;
    std::vector<fencing_token> numbers;
    std::optional<milliseconds> left{};  ///< Of the lease, when the body was cancelled.
    term* now = nullptr;                 ///< While a body runs.
    bool slow = false;                   ///< A cancelled body stops when the test lets it.

    std::shared_ptr<spawned> start(const lead_options& options = three_seconds)
    {
        auto started = start_coroutine(*this, lead(locks(), "jobs", options, [this](term& led) {
            return serve(led);
        }));
        run_until_idle();
        return started;
    }

    /// Lets a slow body end.
    void let_it_stop()
    {
        may_stop_.expires_at(asio::steady_timer::time_point::min());
        run_until_idle();
    }

    /// Whether the nodes have the key of a term.
    [[nodiscard]] bool is_held() const { return holders("jobs", "") < node_count() / 2; }

private:
    asio::awaitable<void> serve(term& led)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        ++begun;
        numbers.push_back(led.number());
        now = &led;
        asio::steady_timer never(
            co_await asio::this_coro::executor, asio::steady_timer::time_point::max()
        );
        co_await never.async_wait(asio::as_tuple(asio::deferred));
        left = led.held().remaining();
        if (slow)
        {
            co_await asio::this_coro::reset_cancellation_state();
            co_await may_stop_.async_wait(asio::as_tuple(asio::deferred));
        }
        now = nullptr;
        ++ended;
    }

    asio::steady_timer may_stop_{context(), asio::steady_timer::time_point::max()};
};

/// Starts to lead with another body.
template <class Body>
std::shared_ptr<spawned> start_with(
    client_fixture& fixture,
    Body&& body,
    const lead_options& options = three_seconds
)
{
    auto started =
        start_coroutine(fixture, lead(fixture.locks(), "jobs", options, std::forward<Body>(body)));
    fixture.run_until_idle();
    return started;
}

inline asio::awaitable<void> nothing(term&)
{
    co_return;
}

/// Lets real time pass, until `done()`.
template <class Done>
bool in_real_time(client_fixture& fixture, Done done)
{
    return eventually([&] {
        fixture.run_until_idle();
        return done();
    });
}

}  // namespace redlock::test

#endif
