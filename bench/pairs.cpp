#include "pairs.hpp"

#include <redlock.hpp>

#include "loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <string>
#include <utility>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

redlock::client_config make_config(std::span<const std::uint16_t> ports, redlock::mode mode)
{
    redlock::client_config config;
    config.log = nullptr;
    config.mode = mode;
    for (const std::uint16_t port : ports)
    {
        redlock::node_config& node = config.nodes.emplace_back();
        node.port = port;
    }
    // A loaded machine may be late; the yardstick has no timeout either.
    config.node_timeout = 2s;
    return config;
}

redlock::client_config make_waiting_config(std::span<const std::uint16_t> ports, redlock::mode mode)
{
    redlock::client_config config = make_config(ports, mode);
    config.node_timeout = 200ms;  // A frozen waiter costs the others a quarter of it.
    return config;
}

namespace {

/// The state that the tasks of one measurement share.
struct run
{
    redlock::client locks;
    pair_meter meter;
    std::uint64_t errors = 0;
};

asio::awaitable<void> work(run& shared, std::size_t task, std::size_t pairs)
{
    using clock = std::chrono::steady_clock;

    const std::string resource = "pair:" + std::to_string(task);
    for (std::size_t pair = 0; pair < pairs; ++pair)
    {
        const auto started = clock::now();
        auto acquired =
            co_await shared.locks.async_acquire(resource, 10s, asio::as_tuple(asio::deferred));
        auto& [failure, held] = acquired;
        if (!failure)
        {
            auto released = co_await held.async_release(asio::as_tuple(asio::deferred));
            auto& [ec, outcome] = released;
            shared.errors += ec || outcome != redlock::release_outcome::released;
        }
        shared.errors += failure.failed();
        shared.meter.add(clock::now() - started);
    }
    if (shared.meter.done())
        shared.locks.cancel();
}

asio::awaitable<void> start_all(run& shared, std::size_t concurrency)
{
    co_await shared.locks.async_wait_ready();
    shared.meter.start();
    const std::size_t pairs = shared.meter.total();
    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t task = 0; task < concurrency; ++task)
    {
        const std::size_t share = pairs / concurrency + (task < pairs % concurrency);
        asio::co_spawn(executor, work(shared, task, share), asio::detached);
    }
}

result run_pairs(const redlock::client_config& config, std::size_t concurrency, std::size_t pairs)
{
    loop context;
    run shared{redlock::client(context, config), pair_meter(pairs)};
    shared.locks.async_run(asio::detached);
    asio::co_spawn(context, start_all(shared, concurrency), asio::detached);
    context.run();
    return shared.meter.sum_up(shared.errors);
}

}  // namespace

void initialize_nodes(std::span<const std::uint16_t> ports)
{
    asio::io_context context;
    redlock::async_initialize_nodes(
        context,
        make_config(ports, redlock::mode::guarded),
        [](redlock::error_code ec) {
            if (ec)
                throw boost::system::system_error(ec, "initializing the nodes");
        }
    );
    context.run();
}

result run_plain(std::span<const std::uint16_t> ports, std::size_t concurrency, std::size_t pairs)
{
    return run_pairs(make_config(ports, redlock::mode::plain), concurrency, pairs);
}

result run_guarded(std::span<const std::uint16_t> ports, std::size_t concurrency, std::size_t pairs)
{
    return run_pairs(make_config(ports, redlock::mode::guarded), concurrency, pairs);
}

result run_guarded_with_overlap(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
)
{
    redlock::client_config config = make_config(ports, redlock::mode::guarded);
    for (redlock::node_config& node : config.nodes)
        node.overlap = 100ms;
    return run_pairs(config, concurrency, pairs);
}

}  // namespace bench
