// Workers compete while a nemesis does harm: what leases, tokens and a fenced store withstand, and
// the controls, in which one rule is left out. Were these clean, the others would prove nothing.
//
// A few seconds each; with REDLOCK_TEST_LONG in the environment, minutes. scripts/chaos.sh runs as
// long as one likes.

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "chaos/chaos_run.hpp"
#include "chaos/runs.hpp"
#include "support/needs.hpp"

namespace chaos_tests {

using namespace redlock::test;

namespace {

chaos_report run(chaos_settings settings)
{
    if (const char* const seed = std::getenv("REDLOCK_TEST_SEED"))
        settings.seed = std::strtoull(seed, nullptr, 10);
    chaos_report report = run_chaos(settings);
    std::cout << describe(report);
    return report;
}

chaos_report expect_clean(const chaos_settings& settings)
{
    chaos_report report = run(settings);

    BOOST_TEST(report.violations.empty());
    BOOST_TEST(report.live);
    BOOST_TEST(report.output == "");
    BOOST_TEST(granted(report.all).size() > 100u);
    return report;
}

void expect_foul(const std::string& mode, const std::string& without)
{
    const chaos_report report = run({.mode = mode, .without = without, .seconds = 120});

    BOOST_TEST(!report.violations.empty());
    BOOST_TEST(report.output == "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_chaos,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(guarded_leases_tokens_and_a_fenced_store_withstand_all_faults)
{
    expect_clean({.mode = "guarded", .seconds = size_of_run(15, 600)});
}

BOOST_AUTO_TEST_CASE(guarded_leases_outlive_their_nodes_that_restart_in_turn)
{
    const chaos_report report = expect_clean(
        {.mode = "guarded", .seconds = size_of_run(4, 300), .rolling = size_of_run(3, 60)}
    );

    BOOST_TEST(report.lost_without_cause == 0u);
    BOOST_TEST(!report.rolling.empty());
}

BOOST_AUTO_TEST_CASE(guarded_leases_withstand_all_faults_where_half_of_the_clients_poll)
{
    expect_clean({.mode = "guarded", .seconds = size_of_run(8, 300), .polling = 4});
}

BOOST_AUTO_TEST_CASE(plain_leases_withstand_all_faults_of_which_nodes_remember_their_keys)
{
    expect_clean({.mode = "plain", .seconds = size_of_run(8, 300)});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_chaos_controls, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(a_store_that_compares_no_tokens_loses_updates)
{
    expect_foul("guarded", "fencing");
}

BOOST_AUTO_TEST_CASE(nodes_that_forget_let_two_in_where_the_restart_guard_is_bypassed)
{
    expect_foul("guarded", "quarantine");
}

BOOST_AUTO_TEST_CASE(nodes_that_forget_let_two_in_where_nothing_guards_a_restart)
{
    expect_foul("plain", "quarantine");
}

BOOST_AUTO_TEST_CASE(workers_that_give_back_without_comparing_let_two_in)
{
    expect_foul("guarded", "compare");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace chaos_tests
