// Nodes that forget what they have granted: the controls, in which nothing protects the claims.

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

#include "chaos/checker.hpp"
#include "chaos/claim.hpp"
#include "chaos/runs.hpp"
#include "support/needs.hpp"

using namespace redlock::test;

namespace {

/// Runs until two claims contradict each other.
void expect_foul(const std::string& mode, restart_guard guard, tokens expected)
{
    const auto is_foul = [expected](const history& all) {
        return !check(all.claims, expected).empty();
    };

    const history all = run_amnesia(mode, guard, size_of_run(30, 200), is_foul);

    const auto found = check(all.claims, expected);
    std::cout << describe(found, all.claims, 1);
    BOOST_TEST(!found.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_amnesia, *boost::unit_test::precondition(needs("redis-server")))

// Were these clean, the same run in guarded mode would prove nothing.
BOOST_AUTO_TEST_CASE(nodes_that_forget_let_two_in_where_nothing_guards_a_restart)
{
    expect_foul("plain", restart_guard::on, tokens::none);
}

BOOST_AUTO_TEST_CASE(nodes_that_forget_let_two_in_where_the_restart_guard_is_bypassed)
{
    expect_foul("guarded", restart_guard::bypassed, tokens::increasing);
}

BOOST_AUTO_TEST_SUITE_END()
