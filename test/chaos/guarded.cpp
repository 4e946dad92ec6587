// What guarded mode withstands, step by step. The control, in which the same goes wrong, is in
// clock_step.cpp.

#include <redlock/error.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "chaos/checker.hpp"
#include "chaos/clock_step_run.hpp"
#include "chaos/history.hpp"
#include "chaos/runs.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"

namespace guarded_tests {

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

void expect_clean(const history& all)
{
    const auto found = check(all, tokens::increasing);
    BOOST_TEST(found.empty(), describe(found, all));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_guarded_clients,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(an_undisturbed_client_needs_one_round)
{
    const history all = run_undisturbed("guarded", size_of_run(1'000, 20'000));

    std::cout << describe_rounds(all);
    BOOST_TEST(share_of_one_round(all) >= 0.999);
    expect_clean(all);
}

BOOST_AUTO_TEST_CASE(a_client_whose_clock_is_off_needs_a_second_round_once)
{
    for (const auto skew : {std::chrono::hours(87'660), std::chrono::hours(-87'660)})
    {
        BOOST_TEST_CONTEXT("skew " << skew.count() << " h")
        {
            const history all = run_one_skewed("guarded", skew, 200);

            std::cout << describe_rounds(all);
            const std::vector<operation> acquired = granted(all);
            BOOST_TEST_REQUIRE(acquired.size() == 200u);
            BOOST_TEST(acquired.front().rounds == 2u);
            BOOST_TEST(std::ranges::count(acquired, 1u, &operation::rounds) == 199);
            expect_clean(all);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(
    test_guarded_clock_step,
    *boost::unit_test::precondition(needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(a_node_whose_clock_jumps_refuses_newcomers)
{
    const clock_step_outcome outcome = run_clock_step("guarded", 1h);

    BOOST_TEST(!outcome.granted, outcome.report);
    BOOST_TEST(!outcome.both);
    BOOST_TEST_REQUIRE(outcome.report.votes.size() == 5u);
    BOOST_TEST(outcome.report.votes[2].reason == reason::clock, outcome.report);
    BOOST_TEST(outcome.report.votes[3].reason == reason::none);
    BOOST_TEST(outcome.report.votes[4].reason == reason::none);

    // Later it gets the resource, and the store hears no more of the first one.
    BOOST_TEST(outcome.accesses == 4u);
    BOOST_TEST(outcome.stale_writes == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace guarded_tests
