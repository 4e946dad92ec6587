#include "chaos/clock_step_run.hpp"

#include <redlock/client.hpp>

#include "fenced_lua.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chaos/mode.hpp"
#include "chaos/wall_clock.hpp"
#include "support/client_runner.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t node_count = 5;
constexpr milliseconds ttl = 20s;
constexpr const char* resource = "orders:42";

/// Nodes with a clock each.
struct clock_step_stage
{
    clock_step_stage()
    {
        for (wall_clock& clock : clocks)
            nodes.emplace_back(redis_server_options{.environment = clock.environment()});
    }

    [[nodiscard]] client_config config(const std::string& mode, std::vector<std::string> urls) const
    {
        client_config result = config_for(urls);
        result.node_timeout = 500ms;
        protect(result, {.mode = mode, .ttl_max = ttl});
        return result;
    }

    [[nodiscard]] std::vector<std::string> urls() const
    {
        std::vector<std::string> all;
        for (const redis_server& node : nodes)
            all.push_back(node.url());
        return all;
    }

    std::array<wall_clock, node_count> clocks{};
    std::deque<redis_server> nodes{};
};

/// A client that can be kept away from nodes after it has connected to them.
class partitioned_client
{
public:
    partitioned_client(
        boost::asio::io_context& context,
        const clock_step_stage& on,
        const std::string& mode
    )
    {
        std::vector<std::string> urls;
        for (const redis_server& node : on.nodes)
            urls.push_back(proxies_.emplace_back(node.port()).url());
        client_.emplace(context, on.config(mode, urls));
        client_->wait_for_all_nodes();
    }

    void keep_from(std::size_t node) { proxies_.at(node).hold_requests(); }

    void reach_all()
    {
        for (tcp_proxy& proxy : proxies_)
            proxy.pass();
    }

    [[nodiscard]] client_runner& locks() noexcept { return *client_; }

private:
    std::deque<tcp_proxy> proxies_;
    std::optional<client_runner> client_;
};

/// A store that checks tokens, by the recipe of docs/fencing.md.
class fenced_store
{
public:
    /// @return Whether the store accepted it.
    bool read(const lease& holder) { return access({to_string(holder.fence())}); }
    bool write(const lease& holder) { return access({to_string(holder.fence()), "value"}); }

private:
    bool access(const std::vector<std::string>& arguments)
    {
        std::vector<std::string> command{"EVAL", fenced_lua, "1", resource};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return !node_.command(command).starts_with("-");
    }

    redis_server node_;
};

std::size_t holders(const clock_step_stage& on)
{
    std::size_t count = 0;
    for (const redis_server& node : on.nodes)
        count += node.client().exists(resource);
    return count;
}

/// Hands the resource over from the first client, whose last write comes late.
void hand_over(
    boost::asio::io_context& context,
    lease& held,
    partitioned_client& second,
    clock_step_outcome& outcome
)
{
    fenced_store store;
    outcome.accesses += store.read(held);
    outcome.accesses += store.write(held);

    run(context, held.async_release());
    second.reach_all();
    const lease taken = run(context, second.locks()->async_acquire(resource, ttl));
    outcome.accesses += store.read(taken);
    outcome.stale_writes += store.write(held);
    outcome.accesses += store.write(taken);
    outcome.stale_writes += store.write(held);
}

}  // namespace

clock_step_outcome run_clock_step(const std::string& mode, std::chrono::nanoseconds step)
{
    clock_step_stage on;
    boost::asio::io_context context;
    initialize_nodes(on.config(mode, on.urls()));
    partitioned_client first(context, on, mode);
    partitioned_client second(context, on, mode);
    first.keep_from(3);
    first.keep_from(4);
    second.keep_from(0);
    second.keep_from(1);

    lease held = run(context, first.locks()->async_acquire(resource, ttl));
    BOOST_TEST_REQUIRE(holders(on) == 3u);
    on.clocks[2].set_offset(step);
    clock_step_outcome outcome;
    lease taken;
    std::tie(outcome.code, taken) = outcome_of(
        context,
        second.locks()->async_try_acquire(resource, {.ttl = ttl, .report = &outcome.report})
    );

    outcome.granted = bool(taken);
    outcome.both = !held.expired() && !taken.expired();
    if (held.fence() && !taken)
        hand_over(context, held, second, outcome);
    return outcome;
}

}  // namespace redlock::test
