// Jobs that run once in a period, `acquire_options::at_least`, while a node is away or has another
// time when they are released, and others forget what they keep.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/wall_clock.hpp"
#include "support/client_runner.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_period,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::size_t count = 20;
constexpr milliseconds ttl = 1s;

/// The keys of a node that was away for so long have expired.
constexpr milliseconds long_enough = ttl + 200ms;

std::vector<std::string> start_with_clocks(
    std::deque<redis_server>& nodes,
    std::deque<wall_clock>& clocks
)
{
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < 3; ++i)
    {
        const wall_clock& clock = clocks.emplace_back();
        urls.push_back(
            nodes.emplace_back(redis_server_options{.environment = clock.environment()}).url()
        );
    }
    return urls;
}

/// Three nodes with their own clocks, and the client of the first run of each job.
struct jobs
{
    jobs()
    {
        run(context, async_initialize_nodes(context, config));
        first.emplace(context, config);
        first->wait_for_all_nodes();
    }

    /// Acquires the resources of all jobs at once. @return The leases that were granted.
    std::vector<lease> acquire_all(client_runner& by, const acquire_options& how)
    {
        std::vector<lease> granted;
        std::size_t ended = 0;
        for (std::size_t i = 0; i < count; ++i)
        {
            const auto take = [&](error_code ec, lease got) {
                ++ended;
                if (!ec)
                    granted.push_back(std::move(got));
            };
            by->async_acquire(
                "job" + std::to_string(i), how, asio::bind_executor(context.get_executor(), take)
            );
        }
        BOOST_TEST_REQUIRE(run_until(context, [&] { return ended == count; }));
        return granted;
    }

    void start_all(milliseconds at_least = 10min)
    {
        held = acquire_all(*first, {.ttl = ttl, .auto_extend = true, .at_least = at_least});
        BOOST_TEST_REQUIRE(held.size() == count);
    }

    /// Ends the first run of each job. @return How many releases had this outcome.
    std::size_t release_all(release_outcome expected)
    {
        std::size_t ended = 0;
        std::size_t as_expected = 0;
        for (lease& each : held)
        {
            const auto note = [&](error_code ec, release_outcome outcome) {
                ++ended;
                as_expected += !ec && outcome == expected;
            };
            each.async_release(asio::bind_executor(context.get_executor(), note));
        }
        BOOST_TEST_REQUIRE(run_until(context, [&] { return ended == count; }));
        return as_expected;
    }

    /// @return How many jobs another client may run, when all nodes vote again.
    std::size_t second_runs()
    {
        client_runner second(context, config);
        second.wait_for_all_nodes();
        const lease other = run(context, second->async_acquire("another job", ttl));
        return acquire_all(second, {.ttl = ttl, .wait = 300ms}).size();
    }

    bool all_on_all_nodes()
    {
        return run_until(context, [this] {
            return std::ranges::all_of(held, [](const lease& each) { return each.votes() == 3; });
        });
    }

    void freeze(std::size_t node) { nodes[node].pause(); }

    /// Lets it read what it was sent.
    void wake(std::size_t node)
    {
        context.run_for(long_enough);
        nodes[node].resume();
    }

    std::deque<wall_clock> clocks;
    std::deque<redis_server> nodes;
    loop context;
    client_config config = guarded_config(start_with_clocks(nodes, clocks));
    std::optional<client_runner> first;
    std::vector<lease> held;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(
    no_job_runs_again_after_a_node_was_frozen_at_the_release_and_another_forgot,
    jobs
)
{
    start_all();
    freeze(2);
    BOOST_TEST(release_all(release_outcome::barely_kept) == count);
    wake(2);
    nodes[1].restart();

    BOOST_TEST(second_runs() == 0u);
}

BOOST_FIXTURE_TEST_CASE(no_job_runs_again_if_its_client_ends_before_the_frozen_node_wakes, jobs)
{
    start_all();
    freeze(2);
    BOOST_TEST(release_all(release_outcome::barely_kept) == count);
    run(context, (*first)->async_close());
    held.clear();
    first.reset();
    wake(2);
    nodes[1].restart();

    BOOST_TEST(second_runs() == 0u);
}

BOOST_FIXTURE_TEST_CASE(
    no_job_runs_again_after_a_node_was_down_at_the_release_and_another_forgot,
    jobs
)
{
    start_all();
    nodes[2].kill();
    BOOST_TEST(release_all(release_outcome::barely_kept) == count);
    nodes[2].start();
    first->wait_for_all_nodes();
    nodes[1].restart();

    BOOST_TEST(second_runs() == 0u);
}

// The other node that keeps the resource has the wrong time, so it doesn't count.
BOOST_AUTO_TEST_CASE(no_job_runs_again_after_the_clock_of_a_node_was_off_at_the_release)
{
    const struct
    {
        milliseconds off;
        milliseconds at_least;
    } cases[]{{-60s, 10min}, {-60s, 20s}, {-5s, 10min}, {1'750ms, 10min}};
    for (const auto& each : cases)
    {
        BOOST_TEST_CONTEXT(each.off.count() << " ms, kept for " << each.at_least.count() << " ms")
        {
            jobs f;
            f.start_all(each.at_least);
            f.freeze(2);
            f.clocks[1].set_offset(each.off);
            BOOST_TEST(f.release_all(release_outcome::unconfirmed) == count);
            f.clocks[1].set_offset(0s);
            f.wake(2);

            BOOST_TEST(f.second_runs() == 0u);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(no_job_runs_again_after_a_node_forgot_it_and_another_was_frozen, jobs)
{
    start_all();
    nodes[1].restart();
    BOOST_TEST(release_all(release_outcome::barely_kept) == count);
    freeze(2);
    wake(2);
    nodes[0].restart();

    BOOST_TEST(second_runs() == 0u);
}

BOOST_FIXTURE_TEST_CASE(
    no_job_runs_again_if_a_node_that_forgot_it_keeps_it_and_another_is_frozen_at_the_release,
    jobs
)
{
    start_all();
    nodes[1].restart();
    BOOST_TEST_REQUIRE(first->reaches(1, node_state::quarantined));
    first->wait_for_all_nodes();
    BOOST_TEST_REQUIRE(all_on_all_nodes());
    freeze(2);
    BOOST_TEST(release_all(release_outcome::barely_kept) == count);
    wake(2);
    nodes[0].restart();

    BOOST_TEST(second_runs() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
