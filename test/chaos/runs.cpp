#include "chaos/runs.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "chaos/crew.hpp"
#include "chaos/mode.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/worker_options.hpp"
#include "support/posix.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t node_count = 5;
constexpr auto ten_years = std::chrono::hours(87'660);

unsigned draw_seed()
{
    const char* const given = std::getenv("REDLOCK_TEST_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                           : std::random_device()();
    std::cout << "seed " << seed << '\n';
    return seed;
}

std::string joined(const std::vector<std::string>& urls)
{
    std::string all;
    for (const std::string& url : urls)
        all += (all.empty() ? "" : ",") + url;
    return all;
}

std::chrono::nanoseconds draw_skew(std::mt19937_64& random)
{
    const std::int64_t most = std::chrono::nanoseconds(ten_years).count();
    return std::chrono::nanoseconds(std::uniform_int_distribution(-most, most)(random));
}

/// Makes nodes ready. @return The options with their addresses.
worker_options prepared(const redis_servers& nodes, worker_options options)
{
    options.nodes = joined(nodes.urls());
    client_config config;
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
    std::cout << all.claims.size() << " acquisitions by " << workers.size() << " workers in "
              << time.count() << " s, " << all.notes.size() << " notes\n";
    BOOST_TEST(workers.output() == "");
    return all;
}

/// What follows `name:` in the answer to INFO.
std::string info_field(redis_server& node, const std::string& name)
{
    const std::string info = node.command({"INFO", "server"});
    const std::size_t begin = info.find(name + ':') + name.size() + 1;
    return info.substr(begin, info.find('\r', begin) - begin);
}

/// Kills nodes, and starts them again.
class killer
{
public:
    killer(redis_servers& nodes, restart_guard guard) : nodes_(nodes), guard_(guard)
    {
        const std::string marker = nodes_[0].command({"GET", marker_key});
        fingerprint_ = marker.substr(0, marker.rfind(';') + 1);
    }

    void strike(std::uint64_t cycle)
    {
        switch (cycle % 3)
        {
        case 0:  // A minority, another one each time.
            for (std::size_t index = cycle; index < cycle + 2; ++index)
                restart(nodes_[index % nodes_.size()]);
            return;
        case 1:  // All, one after the other.
            for (redis_server& node : nodes_)
                restart(node);
            return;
        default:  // All at once.
            for (redis_server& node : nodes_)
                node.kill();
            for (redis_server& node : nodes_)
                start(node);
        }
    }

private:
    static constexpr const char* marker_key = "redlock:marker";

    void restart(redis_server& node)
    {
        node.kill();
        start(node);
    }

    void start(redis_server& node)
    {
        node.start();
        if (guard_ == restart_guard::on)
            return;
        node.command({"SET", marker_key, fingerprint_ + info_field(node, "run_id")});
        node.command({"DEL", "redlock:quarantine"});
    }

    redis_servers& nodes_;
    restart_guard guard_;
    std::string fingerprint_;
};

}  // namespace

std::uint64_t size_of_run(std::uint64_t few, std::uint64_t all)
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? all : few;
}

history run_skewed_clients(const std::string& mode, std::uint64_t acquisitions)
{
    constexpr std::uint64_t worker_count = 8;
    const unsigned seed = draw_seed();
    std::mt19937_64 random(seed);
    redis_servers nodes(node_count, {.storage = redis_storage::every_write});
    const worker_options work = prepared(
        nodes,
        {.how = {.mode = mode, .ttl_max = 2s, .durable_nodes = true},
         .acquisitions = acquisitions / worker_count,
         .wait = 50ms,
         .hold = 1ms,
         .long_hold = 1s,
         // Long enough for a node to come back, rare enough for many others.
         .one_long_of = static_cast<std::uint32_t>(size_of_run(64, 512))}
    );

    const auto start = deadline_clock::now();
    crew workers;
    while (workers.size() < worker_count)
        workers.hire(work, draw_skew(random));
    nemesis harm(nodes, seed);
    const auto give_up = start + 60s + acquisitions * 30ms;
    const milliseconds calm(size_of_run(400, 1'000));
    while (!workers.end_within(calm) && deadline_clock::now() < give_up)
    {
        harm.strike();
        workers.clock(random() % worker_count).set_offset(draw_skew(random));
    }

    std::cout << harm.pauses() << " times a node stood still, " << harm.restarts()
              << " times one was killed\n";
    return result_of(workers, start);
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

history run_amnesia(
    const std::string& mode,
    restart_guard guard,
    std::uint64_t cycles,
    const std::function<bool(const history&)>& stop
)
{
    redis_servers nodes(node_count);
    const worker_options work = prepared(
        nodes,
        {.how = {.mode = mode, .ttl_max = 1s},
         .ttl = 500ms,
         .node_timeout = 100ms,
         .wait = 100ms,
         .hold = 2ms,
         .long_hold = 450ms}
    );
    const auto start = deadline_clock::now();
    crew workers;
    while (workers.size() < 4)
        workers.hire(work);
    killer harm(nodes, guard);
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle)
    {
        harm.strike(cycle);
        BOOST_TEST_REQUIRE(workers.reaches(workers.claims() + 50, 60s));
        if (stop && stop(workers.read()))
            break;
    }
    return result_of(workers, start);
}

std::string describe_rounds(const history& all)
{
    std::map<std::size_t, std::size_t> counts;
    for (const claim& one : all.claims)
        ++counts[one.rounds];
    std::ostringstream out;
    for (const auto& [rounds, count] : counts)
        out << count << " of " << all.claims.size() << " took " << rounds
            << (rounds == 1 ? " round\n" : " rounds\n");
    for (const std::string& note : all.notes)
        out << note << '\n';
    return out.str();
}

double share_of_one_round(const history& all)
{
    const auto once = std::ranges::count(all.claims, std::size_t(1), &claim::rounds);
    return static_cast<double>(once) / static_cast<double>(all.claims.size());
}

}  // namespace redlock::test
