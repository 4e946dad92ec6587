#include "node/vetting/server_info.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_server_info)

using namespace redlock;
using namespace redlock::detail;

namespace {

using namespace std::chrono_literals;

/// What a server that may vote says.
const std::string good =
    "# Server\r\nredis_version:7.0.15\r\nrun_id:aa11\r\nuptime_in_seconds:42\r\n"
    "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nsecond_repl_offset:-1\r\n"
    "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"
    "# Cluster\r\ncluster_enabled:0\r\n";

server_info read(const std::string& text)
{
    server_info result;
    read_info(result, text);
    return result;
}

/// What a master says of so many connected replicas.
std::string replicas(unsigned count)
{
    std::string text;
    for (unsigned i = 0; i < count; ++i)
        text += "slave" + std::to_string(i) + ":ip=10.0.0.2,port=" + std::to_string(6379 + i) +
                ",state=online,offset=1,lag=0\r\n";
    return text;
}

reason judged(const std::string& more, const node_config& accepts = {})
{
    return judge(read(good + more), accepts).why;
}

BOOST_AUTO_TEST_CASE(what_matters_is_read)
{
    const server_info server = read(good);
    BOOST_TEST(server.run_id == "aa11");
    BOOST_TEST(server.uptime.count() == 42);
    BOOST_TEST(server.role == "master");
    BOOST_TEST(server.cluster_enabled == "0");
    BOOST_TEST(server.max_memory == "0");
    BOOST_TEST(server.eviction_policy == "allkeys-lru");
    BOOST_TEST(server.version == "7.0.15");
    BOOST_TEST(server.replicas.empty());
    BOOST_TEST(read("master_replid:ab\r\n").replication_id == "ab");
}

BOOST_AUTO_TEST_CASE(where_a_failover_may_happen_a_server_needs_a_replication_id)
{
    node_config accepts;
    accepts.overlap = 1s;
    BOOST_TEST(judged("", accepts) == reason::rejected);
    BOOST_TEST(judged("master_replid:ab\r\n", accepts) == reason::rejected);
    const std::string id(40, 'a');
    BOOST_TEST(judged("master_replid:" + id + "\r\n", accepts) == reason::none);
}

BOOST_AUTO_TEST_CASE(a_server_that_has_become_a_master_anew_is_another_one)
{
    const server_info server = read(good + "master_replid:ab\r\n");
    BOOST_TEST(judge_replication(server, "ab").why == reason::none);
    BOOST_TEST(judge_replication(server, "cd").why == reason::unmarked);
    BOOST_TEST(
        judge_replication(read("role:slave\r\nmaster_replid:ab"), "ab").why == reason::replica
    );
}

BOOST_AUTO_TEST_CASE(an_overlap_is_derived_only_where_the_master_waits_for_all_replicas)
{
    const auto text_of =
        [](const std::string& more, replica_settings set, std::optional<unsigned> known) {
            return judge_replicas(read(good + more), set, known).text;
        };
    const auto says = [](const std::string& text, const char* part) {
        return text.find(part) != text.npos;
    };
    BOOST_TEST(text_of(replicas(1), {1, 10s}, 1) == "");
    BOOST_TEST(text_of(replicas(2), {3, 60s}, 2) == "");
    BOOST_TEST(says(text_of("", {1, 1s}, 2), "is 1, but the group has 2 replicas"));
    BOOST_TEST(says(text_of(replicas(3), {2, 1s}, 2), "the group has 3 replicas"));
    BOOST_TEST(says(text_of("", {0, 1s}, 1), "min-replicas-to-write is 0"));
    BOOST_TEST(says(text_of("", {1, 0s}, 1), "min-replicas-max-lag is 0, must be 1 to 60"));
    BOOST_TEST(says(text_of("", {1, 61s}, 1), "min-replicas-max-lag is 61, must be 1 to 60"));
    BOOST_TEST(says(text_of("redis_version:6.2.1\r\n", {1, 1s}, 1), "the server is version 6.2.1"));
    BOOST_TEST(says(text_of("", {0, 0s, "NOPERM no"}, 1), "report its settings: NOPERM no"));
    BOOST_TEST(says(text_of("", {1, 1s}, std::nullopt), "don't report num-slaves"));
    BOOST_TEST(says(text_of("", {}, 1), "?overlap=15s"));
}

BOOST_AUTO_TEST_CASE(settings_are_read_by_their_names)
{
    replica_settings set;
    read_settings(set, {"min-replicas-max-lag", "10", "other", "5", "min-replicas-to-write", "2"});
    BOOST_TEST(set.to_write == 2u);
    BOOST_TEST((set.max_lag == 10s));
}

BOOST_AUTO_TEST_CASE(lines_that_make_no_sense_are_ignored)
{
    const server_info server = read("\r\n:\r\nrun_id\r\n:x\r\nuptime_in_seconds:soon\r\nrun_id:b");
    BOOST_TEST(server.run_id == "b");
    BOOST_TEST(server.uptime.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_master_that_keeps_what_it_has_may_vote)
{
    BOOST_TEST(judged("") == reason::none);
    BOOST_TEST(judged("maxmemory:1000000\r\nmaxmemory_policy:noeviction\r\n") == reason::none);
}

BOOST_AUTO_TEST_CASE(a_name_that_no_server_has_is_not_remembered)
{
    BOOST_TEST(judged("run_id:" + std::string(40, 'a') + "\r\n") == reason::none);
    BOOST_TEST(judged("run_id:" + std::string(1'000'000, 'a') + "\r\n") == reason::rejected);
}

BOOST_AUTO_TEST_CASE(each_reason_not_to_vote_has_its_name)
{
    BOOST_TEST(judged("role:slave\r\n") == reason::replica);
    BOOST_TEST(judged("cluster_enabled:1\r\n") == reason::cluster);
    BOOST_TEST(judged("maxmemory:1000000\r\n") == reason::eviction);
    BOOST_TEST(judged("run_id:\r\n") == reason::rejected);
}

BOOST_AUTO_TEST_CASE(a_sentinel_is_refused_by_its_name)
{
    const refusal found = judge_mode(read(good + "redis_mode:sentinel\r\n"));
    BOOST_TEST(found.why == reason::rejected);
    BOOST_TEST(
        found.text ==
        "this is a Sentinel, which holds no data; use redis+sentinel:// with the name of the "
        "master it watches"
    );
    BOOST_TEST(judge_mode(read(good + "redis_mode:standalone\r\n")).why == reason::none);
    BOOST_TEST(judge_mode(read(good)).why == reason::none);
}

BOOST_AUTO_TEST_CASE(what_a_server_does_not_say_is_not_taken_for_the_best)
{
    BOOST_TEST(judged("role:\r\n") == reason::replica);
    BOOST_TEST(judged("cluster_enabled:\r\n") == reason::cluster);
    BOOST_TEST(judged("maxmemory:\r\n") == reason::eviction);
}

BOOST_AUTO_TEST_CASE(an_error_of_no_master_is_told_from_others)
{
    BOOST_TEST(judge_error("READONLY no").why == reason::replica);
    BOOST_TEST(judge_error("MASTERDOWN no").why == reason::replica);
    BOOST_TEST(judge_error("LOADING no").why == reason::rejected);
    BOOST_TEST(
        judge_error("ERR Error running script: @user_script:5: -LOADING no").text.size() > 0u
    );
    for (const char* other : {"", "OOM no", "READONLYX no", "ERR READONLY", "NOREPLICAS no"})
        BOOST_TEST(judge_error(other).why == reason::none);
}

BOOST_AUTO_TEST_CASE(an_operator_may_accept_a_cluster_node_and_eviction)
{
    node_config accepts;
    accepts.accept_cluster = true;
    accepts.accept_eviction = true;
    BOOST_TEST(judged("cluster_enabled:1\r\nmaxmemory:1000000\r\n", accepts) == reason::none);
}

BOOST_AUTO_TEST_CASE(the_refusal_of_an_evicting_node_names_its_policy)
{
    const refusal found = judge(read(good + "maxmemory:5\r\n"), {});
    BOOST_TEST(found.text == "maxmemory-policy is 'allkeys-lru', must be 'noeviction'");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
