// The programs of examples/, each run as its reader runs it: against nodes on its command line.

#include <redlock/error.hpp>

#include "examples/program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_programs,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// Candidates that lead one after the other, and share a store.
struct jobs : example_nodes
{
    program start() { return {"redlock_fenced_leader", {list_of(nodes), folder.path() / "jobs"}}; }

    temp_folder folder;
};

constexpr const char* leads = "leading, term ";

/// How many jobs were done when a candidate began to lead.
std::uint64_t done_before(const program& leader)
{
    const std::string output = leader.output();
    return number_after(", ", output.substr(output.find("term ")));
}

}  // namespace

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

BOOST_FIXTURE_TEST_CASE(lost_lease_stops_when_another_has_the_keys, example_nodes)
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

BOOST_FIXTURE_TEST_CASE(periodic_job_runs_once_in_each_period_on_three_machines, example_nodes)
{
    std::deque<program> machines;
    for (int i = 0; i < 3; ++i)
    {
        const std::vector<std::string> arguments{list_of(nodes), "2"};
        machines.emplace_back("redlock_periodic_job", arguments);
    }
    std::set<std::uint64_t> tokens;
    const auto count_reports = [&] {
        tokens.clear();
        for (const program& each : machines)
        {
            const std::string output = each.output();
            for (std::size_t at = 0; (at = output.find("report ", at)) != output.npos; ++at)
                tokens.insert(number_after("report ", output.substr(at)));
        }
        return tokens.size();
    };
    BOOST_TEST(eventually([&] { return count_reports() >= 4; }, 20s));
    // The period is 2 s, and a token is a time in microseconds.
    for (auto next = std::next(tokens.begin()); next != tokens.end(); ++next)
        BOOST_TEST((*next - *std::prev(next) > 1'800'000 && *next - *std::prev(next) < 2'500'000));
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

BOOST_FIXTURE_TEST_CASE(the_program_of_the_readme_ships_with_a_token, example_nodes)
{
    program first_look("first_look", nodes);

    BOOST_TEST((first_look.exit_status() == 0));
    BOOST_TEST(first_look.has_said("shipping orders:42 with token "));
    BOOST_TEST(is_free("orders:42"));
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

BOOST_FIXTURE_TEST_CASE(fenced_leader_goes_on_where_a_killed_one_has_stopped, jobs)
{
    program first = start();
    BOOST_TEST_REQUIRE(first.says("job 3"));
    program second = start();
    first.kill();

    BOOST_TEST_REQUIRE(second.says(leads));
    BOOST_TEST(number_after(leads, second.output()) > number_after(leads, first.output()));
    BOOST_TEST(first.has_said("job " + std::to_string(done_before(second))));
    BOOST_TEST(!first.has_said("job " + std::to_string(done_before(second) + 1)));
    BOOST_TEST(second.says("job " + std::to_string(done_before(second) + 1)));

    second.signal(SIGTERM);
    BOOST_TEST((second.exit_status() == 0));
    BOOST_TEST(is_free("shop:jobs"));
}

BOOST_FIXTURE_TEST_CASE(fenced_leader_does_no_job_twice_when_it_was_frozen, jobs)
{
    program first = start();
    BOOST_TEST_REQUIRE(first.says("job 3"));
    program second = start();
    first.signal(SIGSTOP);
    BOOST_TEST_REQUIRE(second.says(leads));
    const std::string next = "job " + std::to_string(done_before(second) + 1);
    BOOST_TEST(second.says(next));
    first.signal(SIGCONT);

    second.signal(SIGTERM);
    BOOST_TEST((second.exit_status() == 0));
    // It has survived, stood again, and leads another term.
    BOOST_TEST(eventually(
        [&] { return first.output().rfind(leads) != first.output().find(leads); }, patience
    ));
    BOOST_TEST(!first.has_said(next + "\n"));
    first.signal(SIGTERM);
    BOOST_TEST((first.exit_status() == 0));
}

BOOST_AUTO_TEST_CASE(unit_test_needs_no_node)
{
    program unit_test("unit_test", redis_servers(0));
    BOOST_TEST((unit_test.exit_status() == 0));
    BOOST_TEST(!unit_test.has_said("FAILED"));
}

BOOST_AUTO_TEST_SUITE_END()
