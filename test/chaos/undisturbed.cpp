// Clients that do not compete, in plain mode.

#include <boost/test/unit_test.hpp>

#include <iostream>

#include "chaos/runs.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_undisturbed,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;

BOOST_AUTO_TEST_CASE(an_undisturbed_client_needs_one_round_in_plain_mode)
{
    const history all = run_undisturbed("plain", size_of_run(1'000, 20'000));

    std::cout << describe_rounds(all);
    BOOST_TEST(share_of_one_round(all) >= 0.999);
}

BOOST_AUTO_TEST_SUITE_END()
