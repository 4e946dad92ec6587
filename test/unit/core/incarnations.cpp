#include "core/incarnations.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(test_incarnations)

using namespace redlock;
using namespace redlock::core;

namespace {

using namespace std::chrono_literals;
using finding = incarnations::finding;

constexpr time_point start{1h};

/// For how long the last server must be away.
constexpr auto doubt = 30s;

bool is_fine(finding found)
{
    return found == finding::fine;
}

BOOST_AUTO_TEST_CASE(different_servers_behind_different_entries_are_fine)
{
    incarnations servers(2, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    BOOST_TEST(is_fine(servers.meet(1, {"b", {}, 10s}, start)));
}

BOOST_AUTO_TEST_CASE(a_server_behind_two_entries_is_refused_at_the_second)
{
    incarnations servers(2, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    BOOST_TEST((servers.meet(1, {"a", {}, 10s}, start) == finding::same_server));
    BOOST_TEST(servers.other_entry(1, "a").value() == 0u);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 11s}, start + 1s)));
}

BOOST_AUTO_TEST_CASE(the_same_server_may_be_met_again)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 0s}, start + 1min)));
}

BOOST_AUTO_TEST_CASE(a_server_is_admitted_for_its_life)
{
    incarnations servers(2, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    BOOST_TEST(!servers.was_admitted(0));
    servers.admitted(0);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 11s}, start + 1s)));
    BOOST_TEST(servers.was_admitted(0));
    BOOST_TEST(!servers.was_admitted(1));
    BOOST_TEST(is_fine(servers.meet(0, {"b", {}, 0s}, start + 2s)));
    BOOST_TEST(!servers.was_admitted(0));
}

BOOST_AUTO_TEST_CASE(a_server_that_was_restarted_at_once_is_fine)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    servers.heard(0, start + 100ms);
    BOOST_TEST(is_fine(servers.meet(0, {"b", {}, 0s}, start + 150ms)));
}

BOOST_AUTO_TEST_CASE(a_server_that_lived_while_the_old_one_did_is_refused)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    servers.heard(0, start + 10s);
    BOOST_TEST((servers.meet(0, {"b", {}, 5s}, start + 11s) == finding::overlaps));
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 21s}, start + 11s)));
}

BOOST_AUTO_TEST_CASE(a_server_that_overlaps_is_believed_when_it_was_alone_for_long_enough)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    servers.heard(0, start + 1s);
    const time_point until = start + 1s + doubt;
    BOOST_TEST((servers.meet(0, {"b", {}, 3600s}, start + 2s) == finding::overlaps));
    BOOST_TEST((servers.overlaps_until(0) == until));
    BOOST_TEST((servers.meet(0, {"b", {}, 3629s}, until - 1ms) == finding::overlaps));
    BOOST_TEST(is_fine(servers.meet(0, {"b", {}, 3630s}, until)));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_back_before_another_is_believed_was_never_replaced)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    servers.admitted(0);
    BOOST_TEST((servers.meet(0, {"b", {}, 3600s}, start + 1s) == finding::overlaps));
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 12s}, start + 2s)));
    BOOST_TEST(servers.was_admitted(0));
    BOOST_TEST((servers.meet(0, {"b", {}, 3602s}, start + 1s + doubt) == finding::overlaps));
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_back_is_refused)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", {}, 10s}, start)));
    BOOST_TEST(is_fine(servers.meet(0, {"b", {}, 0s}, start + 10s)));
    BOOST_TEST((servers.meet(0, {"a", {}, 0s}, start + 20s) == finding::returned));
}

BOOST_AUTO_TEST_CASE(a_server_may_restart_any_number_of_times)
{
    incarnations servers(1, doubt);
    for (int i = 0; i < 1000; ++i)
        BOOST_TEST(is_fine(servers.meet(0, {std::to_string(i), {}, 0s}, start + i * 10s)));
}

BOOST_AUTO_TEST_CASE(the_last_64_servers_before_this_one_are_remembered)
{
    incarnations servers(1, doubt);
    for (int i = 0; i <= 65; ++i)
        BOOST_TEST(is_fine(servers.meet(0, {std::to_string(i), {}, 0s}, start + i * 10s)));
    BOOST_TEST((servers.meet(0, {"1", {}, 0s}, start + 1h) == finding::returned));
    BOOST_TEST(is_fine(servers.meet(0, {"0", {}, 0s}, start + 1h)));
}

BOOST_AUTO_TEST_CASE(after_a_failover_the_other_server_is_believed_at_once)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", "1", 10s}, start)));
    servers.admitted(0);
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 3600s}, start + 1s)));
    BOOST_TEST(!servers.was_admitted(0));
}

BOOST_AUTO_TEST_CASE(a_master_that_has_been_a_replica_is_another_one)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", "1", 10s}, start)));
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 10s}, start + 1s)));
    BOOST_TEST(is_fine(servers.meet(0, {"a", "3", 12s}, start + 2s)));
    servers.admitted(0);
    BOOST_TEST(is_fine(servers.meet(0, {"a", "4", 13s}, start + 3s)));
    BOOST_TEST(!servers.was_admitted(0));
}

BOOST_AUTO_TEST_CASE(a_master_that_has_been_none_in_between_is_refused)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", "1", 10s}, start)));
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 10s}, start + 1s)));
    BOOST_TEST((servers.meet(0, {"a", "1", 12s}, start + 2s) == finding::returned));
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 12s}, start + 3s)));
}

BOOST_AUTO_TEST_CASE(the_master_before_this_one_is_refused_even_if_it_was_never_met)
{
    incarnations servers(1, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 10s, "1"}, start)));
    BOOST_TEST((servers.meet(0, {"a", "1", 12s, "0"}, start + 1s) == finding::returned));
    BOOST_TEST(is_fine(servers.meet(0, {"b", "2", 12s, "1"}, start + 2s)));
    BOOST_TEST(is_fine(servers.meet(0, {"a", "3", 14s, "2"}, start + 3s)));
}

BOOST_AUTO_TEST_CASE(two_entries_that_lead_to_one_server_are_seen_whatever_it_was)
{
    incarnations servers(2, doubt);
    BOOST_TEST(is_fine(servers.meet(0, {"a", "1", 10s}, start)));
    BOOST_TEST((servers.meet(1, {"a", {}, 10s}, start) == finding::same_server));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
