#include "chaos/runs.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include "chaos/crew.hpp"
#include "chaos/mode.hpp"
#include "chaos/worker_options.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t node_count = 5;
std::string joined(const std::vector<std::string>& urls)
{
    std::string all;
    for (const std::string& url : urls)
        all += (all.empty() ? "" : ",") + url;
    return all;
}

/// Makes nodes ready. @return The options with their addresses.
worker_options prepared(const redis_servers& nodes, worker_options options)
{
    options.nodes = joined(nodes.urls());
    client_config config;
    config.log = nullptr;
    config.nodes = parse_nodes(options.nodes);
    config.node_timeout = 500ms;
    protect(config, options.how);
    initialize_nodes(config);
    return options;
}

/// Kills the workers that have not ended. @return What all did.
history result_of(crew& workers, deadline_point start)
{
    workers.kill();
    history all = workers.read();
    const std::chrono::duration<double> time = deadline_clock::now() - start;
    std::cout << granted(all).size() << " acquisitions by " << workers.size() << " workers in "
              << time.count() << " s, " << all.notes.size() << " notes\n";
    BOOST_TEST(workers.output() == "");
    return all;
}

}  // namespace

std::uint64_t size_of_run(std::uint64_t few, std::uint64_t all)
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? all : few;
}

history run_one_skewed(
    const std::string& mode,
    std::chrono::nanoseconds skew,
    std::uint64_t acquisitions
)
{
    redis_servers nodes(node_count);
    const worker_options work =
        prepared(nodes, {.how = {.mode = mode}, .acquisitions = acquisitions, .node_timeout = 1s});
    const auto start = deadline_clock::now();
    crew workers;
    workers.hire(work, skew);
    BOOST_TEST(workers.end_within(60s));
    return result_of(workers, start);
}

history run_undisturbed(const std::string& mode, std::uint64_t acquisitions)
{
    constexpr std::uint64_t worker_count = 2;
    redis_servers nodes(node_count);
    worker_options work = prepared(
        nodes,
        {.how = {.mode = mode}, .acquisitions = acquisitions / worker_count, .node_timeout = 1s}
    );
    const auto start = deadline_clock::now();
    crew workers;
    while (workers.size() < worker_count)
    {
        workers.hire(work);
        work.first_resource += work.resources;
    }
    BOOST_TEST(workers.end_within(30s + acquisitions * 20ms));
    return result_of(workers, start);
}

std::string describe_rounds(const history& all)
{
    const std::vector<operation> acquired = granted(all);
    std::map<std::size_t, std::size_t> counts;
    for (const operation& one : acquired)
        ++counts[one.rounds];
    std::ostringstream out;
    for (const auto& [rounds, count] : counts)
        out << count << " of " << acquired.size() << " took " << rounds
            << (rounds == 1 ? " round\n" : " rounds\n");
    for (const std::string& note : all.notes)
        out << note << '\n';
    return out.str();
}

double share_of_one_round(const history& all)
{
    const std::vector<operation> acquired = granted(all);
    const auto once = std::ranges::count(acquired, 1u, &operation::rounds);
    return static_cast<double>(once) / static_cast<double>(acquired.size());
}

}  // namespace redlock::test
