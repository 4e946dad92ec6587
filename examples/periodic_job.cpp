// usage: redlock_periodic_job URL,URL,... [SECONDS]
//
// Runs a job once a minute, or every SECONDS, no matter how many machines you start it on: what you
// would want from cron if several machines had the same line. Ctrl-C ends it.

#include "program.hpp"

#include <boost/asio/system_timer.hpp>

#include <algorithm>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::seconds;

namespace {

asio::awaitable<void> write_report(redlock::lease& held)
{
    std::cout << "report " << held.fence() << std::endl;
    asio::steady_timer work(co_await asio::this_coro::executor, 50ms);
    co_await work.async_wait(asio::deferred);
}

/// Runs the job, unless another machine began it less than nine tenths of a period ago. So the
/// machines' clocks may differ by nearly a tenth of a period.
asio::awaitable<void> run_once(redlock::client& locks, redlock::milliseconds period)
{
    const redlock::acquire_options once{
        .ttl = 10s,
        .wait = period / 10,  // All machines ask at once, and one attempt each may split the votes.
        .at_least = period * 9 / 10
    };
    try
    {
        co_await redlock::with_lock(locks, "report", once, write_report);
    }
    catch (const boost::system::system_error& failure)
    {
        if (failure.code() != redlock::error::contended)
            std::cerr << failure.what() << '\n';  // Tries again in the next period.
    }
}

asio::awaitable<void> run_periodically(redlock::client& locks, seconds period)
{
    asio::system_timer next(co_await asio::this_coro::executor);
    for (;;)
    {
        const auto now = std::chrono::system_clock::now();
        next.expires_at(now + (period - now.time_since_epoch() % period));
        co_await next.async_wait(asio::deferred);
        co_await run_once(locks, period);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const seconds period(argc == 3 ? std::stoi(argv[2]) : 60);
    return run_program(std::min(argc, 2), argv, [period](redlock::client& locks) {
        return run_periodically(locks, period);
    });
}
