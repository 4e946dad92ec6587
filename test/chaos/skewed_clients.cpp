// Clients whose wall clocks are years apart, while a minority of the nodes is always in trouble.

#include <boost/test/unit_test.hpp>

#include <iostream>

#include "chaos/checker.hpp"
#include "chaos/claim.hpp"
#include "chaos/runs.hpp"
#include "support/needs.hpp"

using namespace redlock::test;

BOOST_AUTO_TEST_SUITE(test_skewed_clients, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(clients_whose_clocks_are_years_apart_exclude_each_other_in_plain_mode)
{
    const std::uint64_t count = size_of_run(600, 100'000);

    const history all = run_skewed_clients("plain", count);

    BOOST_TEST(all.claims.size() == count);
    const auto found = check(all.claims, tokens::none);
    BOOST_TEST(found.empty(), describe(found, all.claims));
}

BOOST_AUTO_TEST_CASE(an_undisturbed_client_needs_one_round_in_plain_mode)
{
    const history all = run_undisturbed("plain", size_of_run(1'000, 20'000));

    std::cout << describe_rounds(all);
    BOOST_TEST(share_of_one_round(all) >= 0.999);
}

BOOST_AUTO_TEST_SUITE_END()
