// Nodes that forget what they have granted: the control, in which nothing protects the claims.

#include <boost/test/unit_test.hpp>

#include <iostream>

#include "chaos/checker.hpp"
#include "chaos/claim.hpp"
#include "chaos/runs.hpp"
#include "support/needs.hpp"

using namespace redlock::test;

BOOST_AUTO_TEST_SUITE(test_amnesia, *boost::unit_test::precondition(needs("redis-server")))

// Were it clean, the same run in guarded mode would prove nothing.
BOOST_AUTO_TEST_CASE(nodes_that_forget_let_two_in_where_nothing_guards_a_restart)
{
    const auto is_foul = [](const history& all) {
        return !check(all.claims, tokens::none).empty();
    };

    const history all = run_amnesia("plain", size_of_run(30, 200), is_foul);

    const auto found = check(all.claims, tokens::none);
    std::cout << describe(found, all.claims, 1);
    BOOST_TEST(!found.empty());
}

BOOST_AUTO_TEST_SUITE_END()
