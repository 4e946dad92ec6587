// Links to an entry behind which a failover may happen, and to one whose ttl_max is being raised.

#include "node/guard.hpp"
#include "node/redis_link.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/link_fixture.hpp"
#include "support/printing.hpp"

namespace failover_tests {

using namespace redlock;
using namespace redlock::test;

namespace {

const std::string replication_id(40, 'e');
const std::string incarnation = "a " + replication_id;

std::string replica(const std::string& address, const std::string& state = "online")
{
    return "slave0:" + address + ",state=" + state + ",offset=1,lag=0\r\n";
}

/// What a master says of itself.
std::string told(const std::string& id = replication_id)
{
    return healthy + "redis_version:7.2.0\r\n" + replica("ip=10.0.0.2,port=6379") +
           "master_replid:" + id + "\r\n";
}

client_config config_of(const char* url)
{
    client_config config = guarded_config_of_link();
    config.nodes[0] = parse_node(url);
    return config;
}

struct promised_link : link_fixture
{
    promised_link() : link_fixture(config_of("redis://h?overlap=15s")) {}

    void introduce(const std::string& info = told())
    {
        open();
        (void)wire->take();
        send(introduction(info));
    }

    void admit()
    {
        introduce();
        (void)wire->take();
        send(":0\r\n");
        BOOST_TEST_REQUIRE(ready.has_value());
    }

    [[nodiscard]] std::string fingerprint() const
    {
        return group.guarded->fingerprint_of(parse_node("redis://h?overlap=15s"));
    }

    /// The answer to a probe of an idle node.
    void look(const std::string& marker, const std::string& info)
    {
        advance(1s);
        const std::string asked = "*2\r\n" + blob("GET") + blob("redlock:marker") + "*2\r\n" +
                                  blob("INFO") + blob("replication");
        BOOST_TEST(wire->take() == asked);
        send(blob(marker) + blob(info));
    }
};

struct watched_link : link_fixture
{
    watched_link() : link_fixture(config_of("redis+sentinel://s/m"))
    {
        group.sentinels[0]->replicas = 1;
    }

    void introduce()
    {
        open();
        (void)wire->take();
        send(introduction(told()));
    }

    void tell_settings(const std::string& replicas, const std::string& lag)
    {
        send(settings(replicas, lag));
    }

    void admit()
    {
        introduce();
        tell_settings("1", "10");
        send(":0\r\n");
        BOOST_TEST_REQUIRE(ready.has_value());
        (void)wire->take();
    }

    /// The answer to a probe.
    void look(const std::string& replicas, const std::string& lag, const std::string& info = told())
    {
        advance(1s);
        BOOST_TEST(
            contains(wire->take(), blob("CONFIG") + blob("GET") + blob("min-replicas-to-write"))
        );
        send(blob(marker()) + blob(info) + settings(replicas, lag));
    }

    [[nodiscard]] std::string marker() const
    {
        return group.guarded->fingerprint_of(parse_node("redis+sentinel://s/m")) + incarnation;
    }

    static std::string settings(const std::string& replicas, const std::string& lag)
    {
        return "%1\r\n" + blob("min-replicas-to-write") + blob(replicas) + "%1\r\n" +
               blob("min-replicas-max-lag") + blob(lag);
    }
};

struct raised_link : link_fixture
{
    static client_config raised()
    {
        client_config config = guarded_config_of_link();
        config.other_ttl_max = 60s;
        return config;
    }

    raised_link() : link_fixture(raised()) {}

    void introduce()
    {
        open();
        (void)wire->take();
        send(introduction(healthy));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_link_promised, promised_link)

BOOST_AUTO_TEST_CASE(the_marker_has_the_overlap_and_the_replication_id)
{
    introduce();
    const std::string asked = wire->take();
    BOOST_TEST(contains(asked, blob(fingerprint()) + blob(incarnation) + blob("45100")));
}

BOOST_AUTO_TEST_CASE(votes_are_asked_of_the_master_that_was_admitted)
{
    admit();
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    settle();
    const std::string end = group.guarded->end_of(fingerprint() + incarnation);
    BOOST_TEST(contains(wire->written, blob("a") + blob(end) + blob("1500")));
}

BOOST_AUTO_TEST_CASE(an_idle_master_is_asked_whether_it_is_still_the_same)
{
    admit();
    look(fingerprint() + incarnation, told());
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_master_that_has_been_a_replica_is_vetted_again)
{
    admit();
    look(fingerprint() + incarnation, told(std::string(40, 'f')));
    BOOST_TEST(end().refused.why == reason::unmarked);
    BOOST_TEST(contains(end().refused.text, "has become a master again"), end().refused.text);
}

BOOST_AUTO_TEST_CASE(a_master_that_is_a_replica_now_is_refused)
{
    admit();
    look(fingerprint() + incarnation, told() + "role:slave\r\n");
    BOOST_TEST(end().refused.why == reason::replica);
}

BOOST_AUTO_TEST_CASE(a_master_with_the_data_of_another_one_is_vetted_again)
{
    admit();
    look(fingerprint() + "b " + replication_id, told());
    BOOST_TEST(end().refused.why == reason::unmarked);
}

BOOST_AUTO_TEST_CASE(a_master_that_waits_for_its_replicas_says_so)
{
    introduce();
    send("-NOREPLICAS Not enough good replicas to write.\r\n");
    BOOST_TEST(end().refused.why == reason::too_few_replicas);
    BOOST_TEST(contains(end().refused.text, "NOREPLICAS"));
}

BOOST_AUTO_TEST_CASE(a_master_that_stops_writing_is_looked_for_again)
{
    admit();
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    settle();
    send("-NOREPLICAS Not enough good replicas to write.\r\n");
    BOOST_TEST(end().refused.why == reason::too_few_replicas);
}

BOOST_AUTO_TEST_CASE(a_server_without_a_replication_id_is_refused)
{
    introduce(healthy);
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "master_replid"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_watched, watched_link)

BOOST_AUTO_TEST_CASE(a_master_is_asked_whether_it_waits_for_its_replicas)
{
    introduce();
    BOOST_TEST(contains(wire->take(), blob("CONFIG") + blob("GET") + blob("min-replicas-to-write"))
    );
    tell_settings("1", "10");
    // The quarantine: ttl_max, the lag, 2 s and 100 ms.
    BOOST_TEST(contains(wire->take(), blob(incarnation) + blob("42100")));
    send(":0\r\n");
    BOOST_TEST(ready.has_value());
}

BOOST_AUTO_TEST_CASE(a_master_that_waits_for_none_is_refused_with_what_to_do)
{
    introduce();
    tell_settings("0", "10");
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "set min-replicas-to-write 1 on every server"));
}

BOOST_AUTO_TEST_CASE(a_master_whose_settings_stay_keeps_its_vote)
{
    admit();
    look("1", "10");
    look("1", "10");
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_master_that_no_longer_waits_for_its_replicas_is_refused)
{
    admit();
    look("0", "10");
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "set min-replicas-to-write 1 on every server"));
}

BOOST_AUTO_TEST_CASE(a_master_with_a_new_replica_that_it_does_not_wait_for_is_refused)
{
    admit();
    look("1", "10", told() + replica("ip=10.0.0.3,port=6379"));
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "but the group has 2 replicas"));
}

BOOST_AUTO_TEST_CASE(neither_a_second_connection_of_a_replica_nor_a_backup_is_a_new_replica)
{
    admit();
    look(
        "1",
        "10",
        told() + replica("ip=10.0.0.2,port=6379", "wait_bgsave") + replica("ip=10.0.0.4,port=0")
    );
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_busy_server_is_asked_for_its_settings_again)
{
    admit();
    advance(1s);
    (void)wire->take();
    send(blob(marker()) + blob(told()) + "-BUSY a script\r\n-BUSY a script\r\n");
    BOOST_TEST(ended.empty());
    look("1", "20");
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_master_that_hides_its_settings_later_is_refused)
{
    admit();
    advance(1s);
    (void)wire->take();
    send(blob(marker()) + blob(told()) + "-NOPERM no\r\n-NOPERM no\r\n");
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "NOPERM no"));
}

BOOST_AUTO_TEST_CASE(the_settings_of_a_busy_master_are_looked_at)
{
    admit();
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    settle();
    (void)wire->take();
    advance(1s);
    const std::string asked = wire->take();
    BOOST_TEST(contains(asked, blob("min-replicas-to-write")));
    BOOST_TEST(!contains(asked, blob("EVALSHA")));
}

BOOST_AUTO_TEST_CASE(a_master_that_hides_its_settings_is_refused_with_what_to_do)
{
    introduce();
    send("-NOPERM no\r\n-NOPERM no\r\n");
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "NOPERM no"));
    BOOST_TEST(contains(end().refused.text, "?overlap=15s"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_raised, raised_link)

BOOST_AUTO_TEST_CASE(a_node_with_the_smaller_ttl_max_is_asked_by_its_own_marker)
{
    introduce();
    const detail::guard& by = *group.guarded;
    BOOST_TEST(contains(wire->take(), blob(by.smaller_fingerprint) + blob("0")));
    send("*2\r\n:0\r\n" + blob("smaller"));
    BOOST_TEST_REQUIRE(ready.has_value());

    const std::string marker = by.smaller_fingerprint + "a";
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    settle();
    BOOST_TEST(contains(wire->take(), blob("a") + blob(by.end_of(marker)) + blob("1500")));
    send(":7\r\n");
    advance(1s);
    send(blob(marker));
    BOOST_TEST(ended.empty());
    advance(1s);
    send(blob(by.fingerprint + "a"));
    BOOST_TEST(end().refused.why == reason::unmarked);
}

BOOST_AUTO_TEST_CASE(a_node_with_the_larger_ttl_max_is_accepted_too)
{
    introduce();
    send(":0\r\n");
    BOOST_TEST_REQUIRE(ready.has_value());
    advance(1s);
    send(blob(group.guarded->fingerprint + "a"));
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace failover_tests
