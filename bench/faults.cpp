#include "faults.hpp"

#include <redlock.hpp>

#include "loop.hpp"
#include "result.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// What one stretch of pairs with the nodes in one state found.
struct sample
{
    std::vector<double> latencies_us;
    std::size_t errors = 0;

    double percentile(double share)
    {
        std::ranges::sort(latencies_us);
        return latencies_us[static_cast<std::size_t>(
            share * static_cast<double>(latencies_us.size() - 1)
        )];
    }
};

asio::awaitable<sample> acquire_repeatedly(redlock::client& locks, std::size_t pairs)
{
    using clock = std::chrono::steady_clock;

    sample result;
    for (std::size_t pair = 0; pair < pairs; ++pair)
    {
        const auto started = clock::now();
        auto acquired = co_await locks.async_acquire("fault", 10s, asio::as_tuple(asio::deferred));
        auto& [failure, held] = acquired;
        const std::chrono::duration<double, std::micro> latency = clock::now() - started;
        result.latencies_us.push_back(latency.count());
        result.errors += failure.failed();
        if (!failure)
            (void)co_await held.async_release(asio::as_tuple(asio::deferred));
    }
    co_return result;
}

/// Waits until the client sees as many ready nodes.
asio::awaitable<void> wait_for_ready(redlock::client& locks, std::ptrdiff_t wanted)
{
    asio::steady_timer pause(co_await asio::this_coro::executor);
    const auto is_ready = [](const redlock::node_status& node) {
        return node.state == redlock::node_state::ready;
    };
    while (std::ranges::count_if(locks.nodes(), is_ready) < wanted)
    {
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

struct samples
{
    std::vector<sample> healthy;
    std::vector<sample> frozen;
    std::vector<sample> closed;
};

asio::awaitable<samples> alternate(
    redlock::client& locks,
    redlock::test::redis_servers& servers,
    std::size_t rounds,
    std::size_t pairs
)
{
    samples found;
    for (std::size_t round = 0; round < rounds; ++round)
    {
        co_await wait_for_ready(locks, 5);
        found.healthy.push_back(co_await acquire_repeatedly(locks, pairs));
        for (const std::size_t node : {0, 1})
            servers[node].pause();
        found.frozen.push_back(co_await acquire_repeatedly(locks, pairs));
        for (const std::size_t node : {0, 1})
        {
            servers[node].resume();
            servers[node].kill();
        }
        found.closed.push_back(co_await acquire_repeatedly(locks, pairs));
        for (const std::size_t node : {0, 1})
            servers[node].start();
    }
    locks.cancel();
    co_return found;
}

fault_row summarize(const char* name, std::vector<sample>& of, std::vector<sample>& healthy)
{
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> ratios;
    std::size_t errors = 0;
    for (std::size_t round = 0; round < of.size(); ++round)
    {
        p50.push_back(of[round].percentile(0.5));
        p99.push_back(of[round].percentile(0.99));
        ratios.push_back(p50.back() / healthy[round].percentile(0.5));
        errors += of[round].errors;
    }
    return {name, median(p50), median(p99), median(ratios), errors};
}

}  // namespace

std::vector<fault_row> measure_faults(
    redlock::test::redis_servers& servers,
    std::size_t rounds,
    std::size_t pairs
)
{
    loop context;
    redlock::client_config config;
    config.log = nullptr;
    config.mode = redlock::mode::plain;
    for (const redlock::test::redis_server& server : servers)
        config.nodes.push_back(redlock::parse_node(server.url()));
    redlock::client locks(context, std::move(config));
    locks.async_run(asio::detached);

    samples found;
    asio::co_spawn(
        context,
        alternate(locks, servers, rounds, pairs),
        [&](std::exception_ptr failure, samples result) {
            if (failure)
                std::rethrow_exception(failure);
            found = std::move(result);
        }
    );
    context.run();
    return {
        summarize("healthy", found.healthy, found.healthy),
        summarize("two_frozen", found.frozen, found.healthy),
        summarize("two_closed", found.closed, found.healthy),
    };
}

std::string to_table(const std::vector<fault_row>& rows)
{
    std::string table =
        "\nacquire latency, one task\n"
        "nodes          p50 us     p99 us    / healthy  errors\n";
    for (const fault_row& row : rows)
    {
        char line[128];
        std::snprintf(
            line,
            sizeof line,
            "%-10s %10.1f %10.1f %12.3f %7zu\n",
            row.nodes.c_str(),
            row.p50_us,
            row.p99_us,
            row.ratio_to_healthy,
            row.errors
        );
        table += line;
    }
    return table;
}

std::string to_json_lines(const std::vector<fault_row>& rows)
{
    std::string lines;
    for (const fault_row& row : rows)
    {
        char line[256];
        std::snprintf(
            line,
            sizeof line,
            "{\"bench\":\"faults\",\"nodes\":\"%s\",\"mode\":\"plain\",\"concurrency\":1,"
            "\"acquire_p50_us\":%.1f,\"acquire_p99_us\":%.1f,\"ratio_to_healthy\":%.3f,"
            "\"errors\":%zu}\n",
            row.nodes.c_str(),
            row.p50_us,
            row.p99_us,
            row.ratio_to_healthy,
            row.errors
        );
        lines += line;
    }
    return lines;
}

}  // namespace bench
