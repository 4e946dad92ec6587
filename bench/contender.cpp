#include "contender.hpp"

#include <redlock.hpp>

#include "loop.hpp"
#include "pairs.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = scoreboard::clock;

/// What the tasks of one process share.
struct team
{
    scoreboard& board;
    std::size_t process;
    std::string resource;
    redlock::client locks;
};

asio::awaitable<void> sleep_until(clock::time_point time)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> work(team& of, std::size_t task)
{
    scoreboard& board = of.board;
    const contender self{.process = of.process, .task = task};
    const redlock::acquire_options options{.ttl = contender_ttl, .wait = contender_wait};
    while (clock::now() < board.end())
    {
        const clock::time_point asked = clock::now();
        auto acquired =
            co_await of.locks.async_acquire(of.resource, options, asio::as_tuple(asio::deferred));
        auto& [failure, held] = acquired;
        if (failure)
        {
            board.give_up(asked);
            if (failure != redlock::error::contended && clock::now() < board.stop())
                board.add_error();
            continue;
        }
        board.enter(self, asked);
        if (const auto until = board.keep_until(); until > clock::now())
            co_await sleep_until(until);
        board.leave(self);
        auto released = co_await held.async_release(asio::as_tuple(asio::deferred));
        auto& [ec, outcome] = released;
        const bool confirmed = !ec && outcome == redlock::release_outcome::released;
        if (!confirmed && clock::now() < board.stop())
            board.add_error();
        if (const auto until = board.rest_until(); until > clock::now())
            co_await sleep_until(until);
    }
}

/// Starts the tasks together with those of the other processes, and ends all of them.
asio::awaitable<void> direct(team& of)
{
    co_await of.locks.async_wait_ready();
    of.board.report_ready();
    while (!of.board.has_start())
        co_await sleep_until(clock::now() + 5ms);
    co_await sleep_until(of.board.start());

    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t task = 0; task < of.board.contenders().tasks; ++task)
        asio::co_spawn(executor, work(of, task), asio::detached);
    co_await sleep_until(of.board.stop());
    of.board.add_rounds(of.locks.metrics().rounds);
    co_await sleep_until(of.board.end());
    of.locks.cancel();
}

}  // namespace

void contend(
    scoreboard& board,
    std::size_t process,
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    const std::string& resource
)
{
    loop context;
    team of{board, process, resource, redlock::client(context, make_waiting_config(ports, mode))};
    of.locks.async_run(asio::detached);
    asio::co_spawn(context, direct(of), [](const std::exception_ptr& failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}

}  // namespace bench
