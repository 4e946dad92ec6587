#include "chaos/clock_step_run.hpp"

#include <redlock/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <deque>
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
struct stage
{
    stage()
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
    partitioned_client(boost::asio::io_context& context, const stage& on, const std::string& mode)
    {
        std::vector<std::string> urls;
        for (const redis_server& node : on.nodes)
            urls.push_back(proxies_.emplace_back(node.port()).url());
        client_.emplace(context, on.config(mode, urls));
        client_->wait_for_all_nodes();
    }

    void keep_from(std::size_t node) { proxies_.at(node).hold_requests(); }

    [[nodiscard]] client_runner& locks() noexcept { return *client_; }

private:
    std::deque<tcp_proxy> proxies_;
    std::optional<client_runner> client_;
};

std::size_t holders(const stage& on)
{
    std::size_t count = 0;
    for (const redis_server& node : on.nodes)
        count += node.client().exists(resource);
    return count;
}

}  // namespace

clock_step_outcome run_clock_step(const std::string& mode, std::chrono::nanoseconds step)
{
    stage on;
    boost::asio::io_context context;
    initialize_nodes(on.config(mode, on.urls()));
    partitioned_client first(context, on, mode);
    partitioned_client second(context, on, mode);
    first.keep_from(3);
    first.keep_from(4);
    second.keep_from(0);
    second.keep_from(1);

    const lease held = run(context, first.locks()->async_acquire(resource, ttl));
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
    return outcome;
}

}  // namespace redlock::test
