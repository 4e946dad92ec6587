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
#include <vector>

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
    const contending& how;
    std::vector<redlock::client> clients;

    redlock::client& client_of(std::size_t task) { return clients[task % clients.size()]; }
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
    const redlock::acquire_options options{.ttl = contender_ttl, .wait = of.how.wait};
    redlock::client& locks = of.client_of(task);
    while (clock::now() < board.end())
    {
        const clock::time_point asked = clock::now();
        auto acquired =
            co_await locks.async_acquire(of.how.resource, options, asio::as_tuple(asio::deferred));
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
    for (redlock::client& each : of.clients)  // All at once, their nodes would time out.
    {
        each.async_run(asio::detached);
        co_await each.async_wait_ready();
    }
    of.board.report_ready();
    while (!of.board.has_start())
        co_await sleep_until(clock::now() + of.board.start_poll());
    co_await sleep_until(of.board.start());

    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t task = 0; task < of.board.contenders().tasks; ++task)
        asio::co_spawn(executor, work(of, task), asio::detached);
    co_await sleep_until(of.board.stop());
    for (const redlock::client& each : of.clients)
        of.board.add_rounds(each.metrics().rounds);
    co_await sleep_until(of.board.end());
    for (redlock::client& each : of.clients)
        each.cancel();
}

}  // namespace

void contend(scoreboard& board, std::size_t process, const contending& how)
{
    loop context;
    team of{board, process, how, {}};
    const redlock::client_config config = make_waiting_config(how.ports, how.mode);
    of.clients.reserve(how.clients);
    for (std::size_t client = 0; client < how.clients; ++client)
        of.clients.emplace_back(context, config);
    asio::co_spawn(context, direct(of), [](const std::exception_ptr& failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}

}  // namespace bench
