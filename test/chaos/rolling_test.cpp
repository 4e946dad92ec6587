// Nodes are restarted one after the other while leases of every kind are held; redlock_rolling does
// it as often as one likes, on more nodes and in other ways.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <iostream>

#include "chaos/rolling_run.hpp"
#include "support/needs.hpp"

namespace rolling_tests {

using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(test_rolling, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(leases_outlive_the_restart_of_each_of_their_nodes)
{
    const rolling_report report =
        run_rolling({.rounds = 1, .waiters = 20, .spread = 100ms, .ttl = 1'500ms, .ttl_max = 2s});

    std::cout << describe(report);
    BOOST_TEST(report.clean());
    BOOST_TEST(report.returns.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rolling_tests
