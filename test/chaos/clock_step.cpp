// A node whose clock jumps drops a key before its time: the control, in which nothing guards it.

#include <boost/test/unit_test.hpp>

#include <chrono>

#include "chaos/clock_step_run.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(
    test_clock_step,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_clock_that_jumps_on_one_node_lets_two_in_in_plain_mode)
{
    const clock_step_outcome outcome = run_clock_step("plain", 1h);

    BOOST_TEST(!outcome.code);
    BOOST_TEST(outcome.both, outcome.report);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_right_lets_only_one_in)
{
    const clock_step_outcome outcome = run_clock_step("plain", 0s);

    BOOST_TEST(!outcome.granted, outcome.report);
}

BOOST_AUTO_TEST_SUITE_END()
