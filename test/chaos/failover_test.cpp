// Workers compete while groups fail over, once for each kind; redlock_failovers does it as often as
// one likes, with Sentinels as they are shipped. The control is in integration/failover.cpp.

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

#include "chaos/failover_run.hpp"
#include "support/needs.hpp"

namespace failover_chaos_tests {

using namespace redlock::test;

namespace {

failover_report expect_clean(failover_settings settings)
{
    settings.workers = 4;
    // In a hurry they would step in between there and back.
    if (settings.kind != "there and back")
        settings.pace = sentinel_pace::hurried;
    const failover_report report = run_failovers(settings);
    std::cout << describe(report);
    BOOST_TEST(report.violations.empty());
    BOOST_TEST(report.live);
    for (const auto pause : report.pauses)
        BOOST_TEST(pause.count() <= bound_of(settings).count());
    return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_failovers, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(a_group_that_is_told_to_fail_over_has_one_holder_at_a_time)
{
    expect_clean({.kind = "command", .failovers = 1});
}

BOOST_AUTO_TEST_CASE(a_group_whose_master_is_frozen_has_one_holder_at_a_time)
{
    expect_clean({.kind = "freeze", .failovers = 1});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_handovers, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(a_master_that_hands_over_and_back_begins_anew)
{
    expect_clean({.kind = "there and back", .failovers = 2});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(
    test_failovers_of_groups,
    *boost::unit_test::precondition(needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(three_groups_of_which_one_fails_over_go_on)
{
    const auto report = expect_clean({.kind = "kill", .failovers = 1, .groups = 3});
    // No failover is over in this time. Two groups are a quorum meanwhile.
    for (const auto pause : report.pauses)
        BOOST_TEST(pause.count() <= 6'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace failover_chaos_tests
