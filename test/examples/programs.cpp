// The programs of examples/, each run as its reader runs it: against nodes on its command line.

#include <redlock/error.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// Far longer than any example takes.
constexpr auto patience = 30s;

std::string list_of(const redis_servers& nodes)
{
    std::string list;
    for (const std::string& url : nodes.urls())
        list += (list.empty() ? "" : ",") + url;
    return list;
}

/// An example that runs.
class program
{
public:
    program(const std::string& name, const redis_servers& nodes)
        : process_({
              .program = std::filesystem::path(REDLOCK_EXAMPLES) / ("redlock_" + name),
              .arguments = {"redlock_" + name, list_of(nodes)},
              .output = output_file(),
          })
    {
    }

    [[nodiscard]] std::string output() const { return read_file(output_file()); }

    [[nodiscard]] bool has_said(std::string_view text) const
    {
        return output().find(text) != std::string::npos;
    }

    /// Waits until it has printed `text`, errors included. @return Whether it has.
    [[nodiscard]] bool says(std::string_view text) const
    {
        return eventually([&] { return has_said(text); }, patience);
    }

    /// Waits for its end. @return Its exit status. Empty: it was killed, or does not end.
    [[nodiscard]] std::optional<int> exit_status()
    {
        const bool ended = eventually([this] { return process_.has_ended(); }, patience);
        BOOST_TEST_INFO("it printed: " << output());
        BOOST_TEST(ended);
        return process_.exit_status();
    }

    void signal(int number) const { ::kill(process_.pid(), number); }
    void kill() { process_.kill(); }

private:
    [[nodiscard]] std::filesystem::path output_file() const { return folder_.path() / "output"; }

    temp_folder folder_;
    child_process process_;
};

/// Three fresh nodes that may vote.
class example_nodes
{
public:
    example_nodes()
    {
        program initialize("initialize", nodes);
        BOOST_TEST_REQUIRE((initialize.exit_status() == 0));
    }

    /// Sets the key of a resource, as any other Redlock client would.
    void hold_elsewhere(const std::string& resource, std::chrono::milliseconds ttl)
    {
        for (redis_server& node : nodes)
            node.command({"SET", resource, "another", "PX", std::to_string(ttl.count())});
    }

    void take_away(const std::string& resource)
    {
        for (redis_server& node : nodes)
            node.command({"DEL", resource});
    }

    [[nodiscard]] bool all_hold(const std::string& resource)
    {
        return eventually([&] { return count(resource) == nodes.size(); });
    }

    [[nodiscard]] bool is_free(const std::string& resource)
    {
        return eventually([&] { return count(resource) == 0; });
    }

    redis_servers nodes{3};

private:
    /// How many nodes have the key.
    std::size_t count(const std::string& resource)
    {
        const auto has = [&](redis_server& node) { return node.client().exists(resource); };
        return static_cast<std::size_t>(std::ranges::count_if(nodes, has));
    }
};

std::string message_of(redlock::error value)
{
    return make_error_code(value).message();
}

/// The number after `word` in what a program has printed.
std::uint64_t number_after(std::string_view word, const std::string& output)
{
    const std::size_t at = output.find(word);
    BOOST_TEST_REQUIRE(at != std::string::npos);
    return std::stoull(output.substr(at + word.size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_programs, *boost::unit_test::precondition(needs("redis-server")))

BOOST_FIXTURE_TEST_CASE(nodes_are_initialized_once, example_nodes)
{
    program again("initialize", nodes);

    BOOST_TEST((again.exit_status() == 1));
    BOOST_TEST(again.has_said(message_of(redlock::error::already_initialized)));
}

BOOST_FIXTURE_TEST_CASE(first_lock_holds_and_releases, example_nodes)
{
    program first_lock("first_lock", nodes);

    BOOST_TEST((first_lock.exit_status() == 0));
    BOOST_TEST(first_lock.has_said("orders:42 is ours for 9"));
    BOOST_TEST(is_free("orders:42"));
}

BOOST_FIXTURE_TEST_CASE(try_lock_works_or_goes_on_without_waiting, example_nodes)
{
    program alone("try_lock", nodes);
    BOOST_TEST((alone.exit_status() == 0));
    BOOST_TEST(alone.has_said("fetching the prices"));

    BOOST_TEST_REQUIRE(is_free("cache:prices"));
    hold_elsewhere("cache:prices", 60s);
    program second("try_lock", nodes);
    BOOST_TEST((second.exit_status() == 0));
    BOOST_TEST(second.has_said("somebody else"));
}

BOOST_FIXTURE_TEST_CASE(with_lock_works_for_longer_than_the_ttl, example_nodes)
{
    program with_lock("with_lock", nodes);

    BOOST_TEST((with_lock.exit_status() == 0));
    BOOST_TEST(with_lock.has_said("rebuilt, 5 parts"));
    BOOST_TEST(is_free("index:products"));
}

BOOST_FIXTURE_TEST_CASE(with_lock_stops_half_way_when_the_lock_is_lost, example_nodes)
{
    program with_lock("with_lock", nodes);
    BOOST_TEST_REQUIRE(with_lock.says("part 1"));
    take_away("index:products");

    BOOST_TEST((with_lock.exit_status() == 0));
    BOOST_TEST(with_lock.has_said("the lock was lost"));
    BOOST_TEST(!with_lock.has_said("part 5"));
}

BOOST_FIXTURE_TEST_CASE(timeouts_gives_up_twice_and_gets_the_resource_in_the_end, example_nodes)
{
    hold_elsewhere("orders:42", 3s);
    program timeouts("timeouts", nodes);

    BOOST_TEST((timeouts.exit_status() == 0));
    BOOST_TEST(timeouts.has_said("within 300 ms: " + message_of(redlock::error::contended)));
    BOOST_TEST(timeouts.has_said("within 500 ms: given up"));
    BOOST_TEST(timeouts.has_said("ours, for up to 1"));
    BOOST_TEST(timeouts.has_said("not for 10 s more"));
    BOOST_TEST(timeouts.has_said("released"));
}

BOOST_FIXTURE_TEST_CASE(lost_lease_stops_when_the_keys_are_gone, example_nodes)
{
    program lost_lease("lost_lease", nodes);
    BOOST_TEST_REQUIRE(lost_lease.says("the till is open"));
    take_away("shop:till");

    BOOST_TEST((lost_lease.exit_status() == 0));
    BOOST_TEST(lost_lease.has_said("closed: " + message_of(redlock::error::lease_lost)));
}

BOOST_FIXTURE_TEST_CASE(lost_lease_stops_when_the_nodes_are_silent, example_nodes)
{
    program lost_lease("lost_lease", nodes);
    BOOST_TEST_REQUIRE(lost_lease.says("the till is open"));
    for (redis_server& node : nodes)
        node.pause();

    BOOST_TEST((lost_lease.exit_status() == 0));
    BOOST_TEST(lost_lease.has_said("closed: " + message_of(redlock::error::lease_lost)));
    BOOST_TEST(
        lost_lease.has_said("the last extension: " + message_of(redlock::error::quorum_unreachable))
    );
}

BOOST_FIXTURE_TEST_CASE(callbacks_ships_and_releases, example_nodes)
{
    program callbacks("callbacks", nodes);

    BOOST_TEST((callbacks.exit_status() == 0));
    BOOST_TEST(callbacks.has_said("shipped, released"));
    BOOST_TEST(is_free("orders:42"));
}

BOOST_FIXTURE_TEST_CASE(callbacks_stops_when_the_lease_is_lost, example_nodes)
{
    program callbacks("callbacks", nodes);
    BOOST_TEST_REQUIRE(all_hold("orders:42"));
    take_away("orders:42");

    BOOST_TEST((callbacks.exit_status() == 0));
    BOOST_TEST(callbacks.has_said("stopped half way"));
}

BOOST_FIXTURE_TEST_CASE(blocking_ships_without_coroutines, example_nodes)
{
    program blocking("blocking", nodes);

    BOOST_TEST((blocking.exit_status() == 0));
    BOOST_TEST(blocking.has_said("shipped 3 boxes"));
    BOOST_TEST(blocking.has_said("printed the invoice"));
    BOOST_TEST(is_free("orders:42"));
    BOOST_TEST(is_free("invoices:42"));
}

BOOST_FIXTURE_TEST_CASE(blocking_stops_when_the_lease_is_lost, example_nodes)
{
    program blocking("blocking", nodes);
    BOOST_TEST_REQUIRE(blocking.says("box 1"));
    take_away("orders:42");

    BOOST_TEST((blocking.exit_status() == 1));
    BOOST_TEST(blocking.has_said(message_of(redlock::error::lease_lost)));
}

BOOST_FIXTURE_TEST_CASE(futures_ships_and_releases, example_nodes)
{
    program futures("futures", nodes);

    BOOST_TEST((futures.exit_status() == 0));
    BOOST_TEST(futures.has_said("box 3"));
    BOOST_TEST(futures.has_said("shipped, released"));
}

BOOST_FIXTURE_TEST_CASE(futures_stops_when_the_lease_is_lost, example_nodes)
{
    program futures("futures", nodes);
    BOOST_TEST_REQUIRE(futures.says("box 1"));
    take_away("orders:42");

    BOOST_TEST((futures.exit_status() == 1));
    BOOST_TEST(futures.has_said("not shipped: " + message_of(redlock::error::lease_lost)));
}

BOOST_FIXTURE_TEST_CASE(error_handling_ships_if_nothing_goes_wrong, example_nodes)
{
    program error_handling("error_handling", nodes);

    BOOST_TEST((error_handling.exit_status() == 0));
    BOOST_TEST(error_handling.has_said("shipped, released"));
}

BOOST_FIXTURE_TEST_CASE(error_handling_takes_contention_for_no_error, example_nodes)
{
    hold_elsewhere("orders:42", 60s);
    program error_handling("error_handling", nodes);

    BOOST_TEST((error_handling.exit_status() == 0));
    BOOST_TEST(error_handling.has_said("come back later"));
}

BOOST_FIXTURE_TEST_CASE(error_handling_says_which_nodes_are_missing, example_nodes)
{
    nodes[0].kill();
    nodes[1].kill();
    program error_handling("error_handling", nodes);

    BOOST_TEST((error_handling.exit_status() == 1));
    BOOST_TEST(error_handling.has_said("call an operator: need 2 of 3"));
    BOOST_TEST(error_handling.has_said("Connection refused"));
}

BOOST_FIXTURE_TEST_CASE(leader_election_has_one_leader_and_replaces_it, example_nodes)
{
    const std::string leads = "leading, token ";
    program first("leader_election", nodes);
    BOOST_TEST_REQUIRE(first.says(leads));
    program second("leader_election", nodes);
    program third("leader_election", nodes);

    first.kill();
    BOOST_TEST_REQUIRE(
        eventually([&] { return second.has_said(leads) || third.has_said(leads); }, patience)
    );
    program& successor = second.has_said(leads) ? second : third;
    program& last = second.has_said(leads) ? third : second;
    BOOST_TEST(number_after(leads, successor.output()) > number_after(leads, first.output()));
    BOOST_TEST(!last.has_said(leads));

    successor.signal(SIGTERM);
    BOOST_TEST((successor.exit_status() == 0));
    BOOST_TEST(last.says(leads));

    last.signal(SIGTERM);
    BOOST_TEST((last.exit_status() == 0));
    BOOST_TEST(is_free("shop:leader"));
}

BOOST_AUTO_TEST_CASE(unit_test_needs_no_node)
{
    program unit_test("unit_test", redis_servers(0));
    BOOST_TEST((unit_test.exit_status() == 0));
    BOOST_TEST(!unit_test.has_said("FAILED"));
}

BOOST_AUTO_TEST_SUITE_END()
