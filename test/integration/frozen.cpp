// A node that is frozen under full load: what it costs, and what is left of it.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_frozen,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr milliseconds ttl = 3s;
constexpr int tasks = 256;

/// Pairs of acquire and release, as many at once as there are tasks, until told to stop.
class load
{
public:
    load(asio::io_context& context, client& locks)
    {
        for (int task = 0; task < tasks; ++task)
        {
            asio::co_spawn(context, repeat(locks, task), [this](const std::exception_ptr& failure) {
                failures_ += failure != nullptr;
                --running_;
            });
        }
    }

    load(const load&) = delete;
    load& operator=(const load&) = delete;

    void stop() noexcept { stopping_ = true; }

    [[nodiscard]] bool stopped() const noexcept { return running_ == 0; }
    [[nodiscard]] std::size_t pairs() const noexcept { return pairs_; }
    [[nodiscard]] std::size_t failures() const noexcept { return failures_; }

private:
    asio::awaitable<void> repeat(client& locks, int task)
    {
        const std::string name = std::to_string(task) + ":";
        for (std::size_t i = 0; !stopping_; ++i)
        {
            const std::string resource = name + std::to_string(i);
            lease held = co_await locks.async_acquire(resource, ttl, asio::use_awaitable);
            const auto outcome = co_await held.async_release(asio::use_awaitable);
            failures_ += outcome != release_outcome::released;
            ++pairs_;
        }
    }

    bool stopping_ = false;
    int running_ = tasks;
    std::size_t pairs_ = 0;
    std::size_t failures_ = 0;
};

/// Resident memory of this process in MiB. Zero with a sanitizer, whose memory it would be.
long resident_mib()
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    const std::string status = read_file("/proc/self/status");
    return std::stol(status.substr(status.find("VmRSS:") + 6)) / 1024;
#endif
}

std::chrono::milliseconds frozen_for()
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? 60s : 4s;
}

/// Runs for a while. @return How many pairs were made in a second, and the most memory seen.
struct observation
{
    double pairs_per_second;
    long most_mib;
};

observation observe(asio::io_context& context, const load& work, std::chrono::milliseconds time)
{
    const std::size_t before = work.pairs();
    const auto start = deadline_clock::now();
    observation result{0, resident_mib()};
    while (deadline_clock::now() < start + time)
    {
        context.run_for(50ms);
        result.most_mib = std::max(result.most_mib, resident_mib());
    }
    const std::chrono::duration<double> elapsed = deadline_clock::now() - start;
    result.pairs_per_second = static_cast<double>(work.pairs() - before) / elapsed.count();
    return result;
}

/// Waits until a server has no keys.
bool gets_empty(asio::io_context& context, redis_server& server, std::chrono::milliseconds within)
{
    return run_until(
        context, [&server] { return server.command({"DBSIZE"}) == "(integer) 0"; }, within
    );
}

/// Three nodes, the last of which takes questions, but is not heard any more.
struct silent_third
{
    explicit silent_third(mode how = mode::plain) : locks(context, config(how))
    {
        locks.wait_for_all_nodes();
        proxy.hold_replies();
    }

    client_config config(mode how)
    {
        client_config result = config_for(servers);
        result.nodes[2] = parse_node(proxy.url());
        result.mode = how;
        if (how == mode::guarded)
            run(context, async_initialize_nodes(context, result));
        return result;
    }

    /// As many leases, each in a turn of its own.
    void acquire_one_by_one(int count)
    {
        for (int i = 0; i < count; ++i)
        {
            auto [ec, got] = outcome_of(context, locks->async_acquire(std::to_string(i), 25s));
            BOOST_TEST_REQUIRE(!ec);
            held.push_back(std::move(got));
        }
    }

    /// To the third node, without those of the vetting.
    [[nodiscard]] std::size_t commands_written() const
    {
        std::size_t count = 0;
        for (const std::string& sent : proxy.requests())
        {
            for (const char* command : {"\r\nSET\r\n", "\r\nEVALSHA\r\n"})
            {
                auto at = sent.find(command);
                for (; at != sent.npos; at = sent.find(command, at + 1))
                    ++count;
            }
        }
        return count;
    }

    redis_servers servers{3};
    tcp_proxy proxy{servers[2].port()};
    loop context;
    client_runner locks;
    std::vector<lease> held;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_node_frozen_under_load_costs_bounded_memory_and_nothing_else)
{
    redis_servers servers(5);
    loop context;
    client_runner locks(context, config_for(servers));
    locks.wait_for_all_nodes();
    load work(context, *locks.operator->());
    const observation healthy = observe(context, work, 1s);

    servers[4].pause();
    const observation frozen = observe(context, work, frozen_for());
    servers[4].resume();

    BOOST_TEST_MESSAGE(
        "healthy " << healthy.pairs_per_second << " pairs/s, " << healthy.most_mib
                   << " MiB; frozen " << frozen.pairs_per_second << " pairs/s, " << frozen.most_mib
                   << " MiB"
    );
    // The caps are 4096 unanswered commands and as many releases, of less than 2 KiB each.
    BOOST_TEST(frozen.most_mib < healthy.most_mib + 48);
    BOOST_TEST(frozen.pairs_per_second > healthy.pairs_per_second / 3);

    // Under load all the time.
    BOOST_TEST(locks.reaches(5));
    work.stop();
    BOOST_TEST(run_until(context, [&work] { return work.stopped(); }));
    BOOST_TEST(work.failures() == 0u);
    for (const std::size_t node : {0, 1, 2, 3})
        BOOST_TEST(gets_empty(context, servers[node], 2s));
    BOOST_TEST(gets_empty(context, servers[4], ttl + 2s));
}

// As many commands as a node takes without an answer, and then the releases, for which there is no
// room. The node wakes up before its connection is given up, so nothing but the room tells.
BOOST_AUTO_TEST_CASE(releases_for_which_a_frozen_node_had_no_room_reach_it_later)
{
    constexpr std::size_t count = 4096;
    redis_servers servers(3);
    loop context;
    client_config config = config_for(servers);
    config.node_timeout = 10s;
    client_runner locks(context, config);
    locks.wait_for_all_nodes();
    std::vector<lease> held;
    servers[2].pause();

    for (std::size_t i = 0; i < count; ++i)
    {
        locks->async_acquire(std::to_string(i), 600s, [&held](error_code ec, lease got) {
            BOOST_TEST_REQUIRE(!ec);
            held.push_back(std::move(got));
        });
    }
    BOOST_TEST_REQUIRE(run_until(context, [&held] { return held.size() == count; }));
    held.clear();
    BOOST_TEST(gets_empty(context, servers[0], 5s));
    servers[2].resume();

    BOOST_TEST(gets_empty(context, servers[2], 10s));
}

BOOST_AUTO_TEST_CASE(a_node_that_owes_many_answers_gets_further_questions_once_it_answers)
{
    silent_third f;

    f.acquire_one_by_one(100);
    f.held.clear();
    BOOST_TEST(gets_empty(f.context, f.servers[0], 5s));
    constexpr std::size_t greeting = 1;  // It asks for a script.
    BOOST_TEST(f.commands_written() == greeting + 64);
    f.proxy.pass();

    // The acquisitions, and two scripts for all releases.
    BOOST_TEST(run_until(f.context, [&f] { return f.commands_written() == greeting + 102; }));
    BOOST_TEST(gets_empty(f.context, f.servers[2], 5s));
}

BOOST_AUTO_TEST_CASE(releases_that_were_never_written_reach_the_next_connection)
{
    silent_third f;

    f.acquire_one_by_one(100);
    f.held.clear();
    BOOST_TEST(gets_empty(f.context, f.servers[0], 5s));
    f.proxy.reset_all();
    f.proxy.pass();

    BOOST_TEST(gets_empty(f.context, f.servers[2], 5s));
    BOOST_TEST(f.proxy.connections() == 2u);
}

// The release of a loser raises the fence of the resource, and must not come first.
BOOST_AUTO_TEST_CASE(a_node_gets_withheld_questions_in_the_order_of_their_turns)
{
    silent_third f(mode::guarded);
    f.acquire_one_by_one(65);

    const auto [ec, none] =
        outcome_of(f.context, f.locks->async_acquire("64", {.ttl = 25s, .wait = 0ms}));
    BOOST_TEST(ec == error::contended);
    f.proxy.pass();

    BOOST_TEST(run_until(f.context, [&f] {
        return f.servers[2].command({"EXISTS", "64"}) == "(integer) 1";
    }));
}

// Two is what five nodes can spare.
BOOST_AUTO_TEST_CASE(two_nodes_frozen_again_and_again_under_load_cost_no_operation)
{
    redis_servers servers(5);
    loop context;
    client_runner locks(context, config_for(servers));
    locks.wait_for_all_nodes();
    load work(context, *locks.operator->());

    for (const auto time : {20ms, 100ms, 300ms, 1200ms})
    {
        servers[1].pause();
        servers[3].pause();
        context.run_for(time);
        servers[1].resume();
        servers[3].resume();
        BOOST_TEST(locks.reaches(5));
    }

    work.stop();
    BOOST_TEST(run_until(context, [&work] { return work.stopped(); }));
    BOOST_TEST(work.failures() == 0u);
    for (redis_server& server : servers)
        BOOST_TEST(gets_empty(context, server, ttl + 2s));
}

BOOST_AUTO_TEST_SUITE_END()
