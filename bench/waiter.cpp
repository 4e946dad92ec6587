#include "waiter.hpp"

#include <redlock.hpp>

#include "contender.hpp"
#include "holder.hpp"
#include "isolated.hpp"
#include "loop.hpp"
#include "node_commands.hpp"
#include "pairs.hpp"
#include "result.hpp"
#include "text.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <stdexcept>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::minutes time_limit{2};

void rethrow(const std::exception_ptr& failure)
{
    if (failure)
        std::rethrow_exception(failure);
}

/// What the tasks of one process share.
struct company
{
    stage& watched;
    std::string resource;
    redlock::client locks;
};

asio::awaitable<void> take_turn(company& of)
{
    stage& watched = of.watched;
    const redlock::acquire_options options{.ttl = contender_ttl, .wait = 2 * contender_wait};
    ++watched.asking;
    auto acquired =
        co_await of.locks.async_acquire(of.resource, options, asio::as_tuple(asio::deferred));
    auto& [failure, held] = acquired;
    if (!failure)
    {
        stage::clock::rep nobody = 0;
        const stage::clock::rep now = stage::clock::now().time_since_epoch().count();
        watched.entered.compare_exchange_strong(nobody, now);
        (void)co_await held.async_release(asio::as_tuple(asio::deferred));
    }
    watched.failed += failure.failed();
    ++watched.done;
}

asio::awaitable<void> direct_turns(company& of, std::size_t tasks)
{
    co_await of.locks.async_wait_ready();
    ++of.watched.ready;
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    std::uint64_t turn = 0;
    while (!of.watched.over)
    {
        timer.expires_after(2ms);
        co_await timer.async_wait(asio::use_awaitable);
        if (of.watched.turn == turn)
            continue;
        turn = of.watched.turn;
        for (std::size_t task = 0; task < tasks; ++task)
            asio::co_spawn(executor, take_turn(of), rethrow);
    }
    of.locks.cancel();
}

/// What those share who wait in vain.
struct queue_of_tasks
{
    redlock::client locks;
    std::string resource;
    std::chrono::seconds wait;
    std::size_t waiting{0};
    stopwatch watch;
    cost spent{};
    std::uint64_t acquired{0};
    std::uint64_t errors{0};
};

asio::awaitable<void> wait_in_vain(queue_of_tasks& shared)
{
    const redlock::acquire_options options{.ttl = contender_ttl, .wait = shared.wait};
    auto acquired = co_await shared.locks.async_acquire(
        shared.resource, options, asio::as_tuple(asio::deferred)
    );
    auto& [failure, held] = acquired;
    shared.acquired += !failure;
    shared.errors += failure && failure != redlock::error::contended;
    if (--shared.waiting > 0)
        co_return;
    shared.spent = shared.watch.elapsed();
    shared.locks.cancel();
}

asio::awaitable<void> start_waiting(queue_of_tasks& shared)
{
    co_await shared.locks.async_wait_ready();
    shared.watch = stopwatch();
    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t task = 0; task < shared.waiting; ++task)
        asio::co_spawn(executor, wait_in_vain(shared), rethrow);
}

waiting_row wait_together(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t tasks,
    std::chrono::seconds duration,
    const std::string& resource
)
{
    loop context;
    queue_of_tasks shared{
        .locks = redlock::client(context, make_waiting_config(ports, mode)),
        .resource = resource,
        .wait = duration,
        .waiting = tasks,
        .watch = {},
    };
    shared.locks.async_run(asio::detached);
    asio::co_spawn(context, start_waiting(shared), rethrow);
    context.run();

    waiting_row row;
    row.tasks = tasks;
    row.mode = mode;
    row.seconds = shared.spent.seconds;
    row.cpu_share = shared.spent.cpu_seconds / shared.spent.seconds;
    row.acquired = shared.acquired;
    row.errors = shared.errors;
    return row;
}

}  // namespace

void wait_in_turns(
    stage& watched,
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t tasks,
    const std::string& resource
)
{
    loop context;
    company of{watched, resource, redlock::client(context, make_waiting_config(ports, mode))};
    of.locks.async_run(asio::detached);
    asio::co_spawn(context, direct_turns(of, tasks), rethrow);
    context.run();
}

waiting_row measure_waiting(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t tasks,
    std::chrono::seconds duration
)
{
    const std::string resource = "waiting:1";
    if (duration > 20s)
        throw std::invalid_argument("nobody can hold the lock for so long, wait at most 20 s");
    const holder held(ports, mode, resource, duration + 8s);
    const std::uint64_t before = count_commands(ports, mode);
    auto row = run_isolated<waiting_row>(time_limit, [&] {
        return wait_together(ports, mode, tasks, duration, resource);
    });
    const auto commands = static_cast<double>(count_commands(ports, mode) - before);
    row.commands = commands / static_cast<double>(ports.size());
    return row;
}

std::string to_table(const waiting_row& found)
{
    return format(
        "\ntasks that wait for what another process holds\n"
        "mode       tasks  seconds  CPU of a core  commands/node  acquired  errors\n"
        "%-8s %7zu %8.1f %12.1f %% %14.0f %9llu %7llu\n",
        to_string(found.mode),
        found.tasks,
        found.seconds,
        found.cpu_share * 100,
        found.commands,
        static_cast<unsigned long long>(found.acquired),
        static_cast<unsigned long long>(found.errors)
    );
}

std::string to_json_line(const waiting_row& found)
{
    return format(
        R"({"bench":"waiting","impl":"redlock","mode":"%s","tasks":%zu,"seconds":%.1f,)"
        R"("cpu_share":%.4f,"commands_per_node":%.1f,"acquired":%llu,"errors":%llu})"
        "\n",
        to_string(found.mode),
        found.tasks,
        found.seconds,
        found.cpu_share,
        found.commands,
        static_cast<unsigned long long>(found.acquired),
        static_cast<unsigned long long>(found.errors)
    );
}

}  // namespace bench
