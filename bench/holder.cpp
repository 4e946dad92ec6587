#include "holder.hpp"

#include <redlock.hpp>

#include "loop.hpp"
#include "pairs.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <exception>
#include <stdexcept>
#include <thread>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// Longer than anybody holds.
constexpr std::chrono::minutes time_limit{2};

constexpr auto acquiring_limit = 30s;

asio::awaitable<void> acquire(
    redlock::client& locks,
    std::string resource,
    std::chrono::milliseconds ttl,
    std::atomic<holder::clock::rep>& since
)
{
    const redlock::acquire_options options{.ttl = ttl, .wait = acquiring_limit};
    const auto lease = co_await locks.async_acquire(resource, options, asio::deferred);
    since = holder::clock::now().time_since_epoch().count();
    asio::steady_timer ever(co_await asio::this_coro::executor, time_limit);
    co_await ever.async_wait(asio::use_awaitable);
}

void hold(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    const std::string& resource,
    std::chrono::milliseconds ttl,
    std::atomic<holder::clock::rep>& since
)
{
    loop context;
    redlock::client locks(context, make_waiting_config(ports, mode));
    locks.async_run(asio::detached);
    asio::co_spawn(
        context,
        acquire(locks, resource, ttl, since),
        [](const std::exception_ptr& failure) {
            if (failure)
                std::rethrow_exception(failure);
        }
    );
    context.run();
}

}  // namespace

holder::holder(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    const std::string& resource,
    std::chrono::milliseconds ttl
)
    : process_(time_limit, [&] { hold(ports, mode, resource, ttl, *since_); })
{
    const clock::time_point give_up = clock::now() + acquiring_limit;
    while (*since_ == 0)
    {
        if (clock::now() > give_up)
            throw std::runtime_error("a holder does not get the lock");
        std::this_thread::sleep_for(1ms);
    }
}

holder::clock::time_point holder::since() const
{
    return clock::time_point(clock::duration(since_->load()));
}

void holder::kill() const
{
    process_.signal(SIGKILL);
}

}  // namespace bench
