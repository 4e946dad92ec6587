// The program redlock gets signals at random moments; redlock_program_chaos does it for longer.

#include <boost/test/unit_test.hpp>

#include <iostream>

#include "chaos/program_run.hpp"
#include "support/needs.hpp"

namespace program_tests {

using namespace redlock::test;

BOOST_AUTO_TEST_SUITE(test_program, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(no_two_commands_are_at_work_whatever_signals_come)
{
    const program_report report = run_programs({.seconds = 10});

    std::cout << describe(report);
    BOOST_TEST(report.clean());
    BOOST_TEST(report.jobs > 10u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace program_tests
