// A link while its server is vetted: the test plays the server.

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/link_fixture.hpp"
#include "support/needs_tls.hpp"
#include "support/printing.hpp"

namespace redis_link_vetting_tests {

using namespace redlock;
using namespace redlock::test;

namespace {

/// A link whose login the test gives.
struct asking_link : link_fixture
{
    asking_link()
    {
        node().ask_credentials = [this](auto handler) { asked = std::move(handler); };
    }

    void give(error_code failure, credentials login)
    {
        std::exchange(asked, {})(failure, std::move(login));
        settle();
    }

    asio::any_completion_handler<void(error_code, credentials)> asked;
};

enum class restarted
{
    maybe,
    no,
};

/// How the question to admit a server ends, before a quorum of the list has passed.
std::string is_durable(bool yes, restarted was = restarted::maybe)
{
    return blob(yes ? "1" : "0") + blob(was == restarted::no ? "1" : "0") + blob("0");
}

/// Another entry of the list.
struct other_entry final : detail::passed_entries::member
{
    void on_quorum() override {}
};

/// A link to a node without a marker.
struct unmarked_link : guarded_link
{
    unmarked_link()
    {
        open();
        introduce();
        answer_unmarked();
    }

    void answer_unmarked()
    {
        (void)wire->take();
        send(blob("unmarked"));
    }

    void let_another_pass()
    {
        group.passed->enter(1, other);
        settle();
    }

    /// Whether the node was asked to take a marker.
    [[nodiscard]] bool was_marked() { return wire->take().ends_with(blob("1")); }

    other_entry other;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_link_vetting, link_fixture)

BOOST_AUTO_TEST_CASE(a_new_connection_is_greeted_before_anything_else)
{
    start();
    BOOST_TEST(wire->written.empty());
    wire->owner->on_open();

    BOOST_TEST(wire->written.starts_with("*4\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$7\r\nSETNAME\r\n"));
    BOOST_TEST(wire->writes == 1u);
    BOOST_TEST(!ready.has_value());
}

BOOST_AUTO_TEST_CASE(login_and_database_are_in_the_greeting)
{
    node().username = "locks";
    node().password = "s3cret";
    node().database = 7;
    open();

    BOOST_TEST(contains(
        wire->written,
        "*7\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$5\r\nlocks\r\n$6\r\ns3cret\r\n"
    ));
    BOOST_TEST(contains(wire->written, "$6\r\nSELECT\r\n$1\r\n7\r\n"));
}

BOOST_AUTO_TEST_CASE(a_password_without_a_user_is_that_of_the_default_user)
{
    node().password = "s3cret";
    open();

    BOOST_TEST(contains(wire->written, "$4\r\nAUTH\r\n$7\r\ndefault\r\n$6\r\ns3cret\r\n"));
}

BOOST_AUTO_TEST_CASE(a_healthy_server_is_ready_when_its_last_reply_is_there)
{
    open();
    const std::string replies = introduction(healthy);
    for (const char byte : replies.substr(0, replies.size() - 1))
        send({&byte, 1});
    BOOST_TEST(!ready.has_value());

    send(replies.substr(replies.size() - 1));
    BOOST_TEST(ready.has_value());
    BOOST_TEST(ready->quarantine.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_server_that_has_the_scripts_is_not_sent_them)
{
    open();
    send(introduction(healthy));

    BOOST_TEST(ready.has_value());
    BOOST_TEST(!contains(wire->written, "SCRIPT"));
}

BOOST_AUTO_TEST_CASE(a_server_without_the_scripts_gets_them_before_the_first_question)
{
    open();
    send(introduction(healthy, greeting, "-NOSCRIPT No matching script\r\n"));

    for (const detail::lua_script& each : group.encoder->scripts())
        BOOST_TEST(contains(wire->written, each.text));
    BOOST_TEST(!ready.has_value());
    reply_to_scripts("$40\r\n" + std::string(40, 'a') + "\r\n");
    BOOST_TEST(ready.has_value());
}

// A script that came alone, because it was flushed, says nothing about the others.
BOOST_AUTO_TEST_CASE(a_server_that_has_only_some_scripts_lacks_the_one_that_is_asked_for)
{
    const std::string asked = make_last_script(group.encoder->scripts()).sha;
    for (const detail::lua_script& each : group.encoder->scripts())
        BOOST_TEST(each.sha != asked);
    open();
    BOOST_TEST(contains(wire->written, asked));
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_no_scripts_is_refused_in_its_words)
{
    open();
    send(introduction(healthy, greeting, "-NOSCRIPT No matching script\r\n"));
    reply_to_scripts("-NOPERM User locks has no permissions for 'script|load'\r\n");

    BOOST_TEST(!ready.has_value());
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "script|load"));
}

BOOST_AUTO_TEST_CASE(an_error_to_the_greeting_refuses_the_node_in_the_words_of_the_server)
{
    open();
    send(introduction(healthy, "-WRONGPASS invalid password\r\n"));

    BOOST_TEST(!ready.has_value());
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "WRONGPASS invalid password");
}

BOOST_AUTO_TEST_CASE(a_server_that_says_why_and_hangs_up_is_refused_in_its_words)
{
    open();
    send("-ERR max number of clients reached\r\n");
    lose(asio::error::eof);

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "ERR max number of clients reached");
    BOOST_TEST(end().code == error_code());
}

BOOST_AUTO_TEST_CASE(the_last_words_of_a_server_do_not_show_the_password)
{
    node().password = "s3cret";
    open();
    send("-ERR cannot parse 'HELLO 3 AUTH default s3cret'\r\n");
    lose(asio::error::eof);

    BOOST_TEST(!contains(end().refused.text, "s3cret"));
}

BOOST_AUTO_TEST_CASE(a_replica_is_refused)
{
    open();
    send(introduction("run_id:a\r\nrole:slave\r\n"));

    BOOST_TEST(end().refused.why == reason::replica);
}

BOOST_AUTO_TEST_CASE(a_server_that_another_entry_leads_to_is_refused)
{
    (void)group.servers->meet(1, {"a", {}, 100s}, time->now().steady);
    open();
    send(introduction(healthy));

    BOOST_TEST(end().refused.why == reason::same_server);
    BOOST_TEST(contains(end().refused.text, "entry 2"));
}

BOOST_AUTO_TEST_CASE(servers_that_alternate_behind_one_entry_are_refused)
{
    (void)group.servers->meet(0, {"b", {}, 100s}, time->now().steady);
    group.servers->heard(0, time->now().steady);
    open();
    send(introduction(healthy));

    BOOST_TEST(end().refused.why == reason::other_server);
    BOOST_TEST((end().refused.ends_in == 1min));
}

BOOST_AUTO_TEST_CASE(a_server_that_was_there_before_the_last_one_is_refused_for_ever)
{
    (void)group.servers->meet(0, {"a", {}, 0s}, time->now().steady);
    (void)group.servers->meet(0, {"b", {}, 0s}, time->now().steady);
    advance(1h);
    open();
    send(introduction(healthy));

    BOOST_TEST(end().refused.why == reason::other_server);
    BOOST_TEST(!end().refused.ends_in.has_value());
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_not_open_in_two_seconds_is_given_up)
{
    start();
    advance(2s);
    BOOST_TEST(!wire->closing);
    advance(200ms);

    BOOST_TEST(end().code == asio::error::timed_out);
}

BOOST_AUTO_TEST_CASE(replies_of_the_vetting_do_not_make_it_last_longer)
{
    open();
    advance(1900ms);
    send("%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n");
    advance(300ms);

    BOOST_TEST(end().code == asio::error::timed_out);
}

BOOST_AUTO_TEST_CASE(a_connection_that_fails_tells_why)
{
    start();
    lose(asio::error::connection_refused);

    BOOST_TEST(end().code == asio::error::connection_refused);
    BOOST_TEST(!time->next().has_value());
}

BOOST_AUTO_TEST_CASE(a_link_may_be_closed_while_it_connects)
{
    start();
    link->close();
    settle();

    BOOST_TEST(end().code == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(
    files_for_tls_that_are_of_no_use_refuse_the_node,
    *boost::unit_test::precondition(needs_tls)
)
{
    node().tls.emplace();
    node().tls->ca_file = "/nonexistent/ca.pem";
    group.tls = detail::make_tls_sources({node()});
    link = detail::make_redis_link(
        ground, group, 0, node(), std::make_shared<detail::name_lookup>(node())
    );
    link->start(owner());
    BOOST_TEST(ended.empty());
    settle();

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "/nonexistent/ca.pem"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_credentials, asking_link)

BOOST_AUTO_TEST_CASE(nothing_is_sent_before_the_credentials_are_there)
{
    start();
    BOOST_TEST(!asked);
    wire->owner->on_open();
    settle();
    BOOST_TEST(!!asked);
    BOOST_TEST(wire->written.empty());

    give({}, {"locks", "s3cret"});
    BOOST_TEST(contains(wire->written, "locks\r\n$6\r\ns3cret"));
    send(introduction(healthy));
    BOOST_TEST(ready.has_value());
}

BOOST_AUTO_TEST_CASE(each_connection_asks_again)
{
    open();
    give({}, {"locks", "old"});
    lose();
    wire = std::make_shared<scripted_wire>();
    ended.clear();
    open();
    give({}, {"locks", "new"});

    BOOST_TEST(contains(wire->written, "locks\r\n$3\r\nnew"));
}

BOOST_AUTO_TEST_CASE(a_source_that_fails_refuses_the_node)
{
    open();
    give(asio::error::not_found, {});

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(
        end().refused.text ==
        "ask_credentials failed: " + error_code(asio::error::not_found).message()
    );
}

BOOST_AUTO_TEST_CASE(a_source_that_throws_refuses_the_node)
{
    node().ask_credentials = [](const auto&) { throw std::runtime_error("no such file"); };
    open();

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "ask_credentials failed: no such file");
}

BOOST_AUTO_TEST_CASE(a_source_that_never_answers_has_two_seconds)
{
    open();
    advance(2s);
    advance(200ms);

    BOOST_TEST(end().code == asio::error::timed_out);
    BOOST_TEST(end().guess == "; ask_credentials provided none in time");
    give({}, {"locks", "s3cret"});
    BOOST_TEST(wire->written.empty());
}

BOOST_AUTO_TEST_CASE(credentials_for_a_link_that_is_gone_are_dropped)
{
    open();
    link->close();
    settle();
    const std::weak_ptr<detail::redis_link> gone = link;
    link.reset();
    BOOST_TEST(gone.expired());

    give({}, {"locks", "s3cret"});
    BOOST_TEST(wire->written.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_hangs_up_before_the_login_is_refused_in_its_words)
{
    open();
    send("-ERR max number of clients reached\r\n");

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "ERR max number of clients reached");
}

BOOST_AUTO_TEST_CASE(a_password_that_was_given_is_not_shown)
{
    open();
    give({}, {"locks", "s3cret"});
    send(introduction(healthy, "-ERR cannot parse 'HELLO 3 AUTH locks s3cret'\r\n"));

    BOOST_TEST(!contains(end().refused.text, "s3cret"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_admission, guarded_link)

BOOST_AUTO_TEST_CASE(a_marked_node_may_vote_at_once)
{
    open();
    introduce();
    BOOST_TEST(!ready.has_value());
    BOOST_TEST(contains(wire->written, "$4\r\nEVAL\r\n"));
    send(":0\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->quarantine.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_may_have_forgotten_tells_how_long_it_must_not_vote)
{
    open();
    introduce();
    send(":1234\r\n");

    BOOST_TEST(ready->quarantine == 1234ms);
}

BOOST_AUTO_TEST_CASE(a_quarantine_may_have_no_end)
{
    open();
    introduce();
    send(":-1\r\n");

    BOOST_TEST((ready->quarantine == forever));
}

BOOST_AUTO_TEST_CASE(a_foreign_marker_refuses_the_node)
{
    open();
    introduce();
    send(blob("marked 'redlock 1;nodes=5;run\r\nid"));

    BOOST_TEST(end().refused.why == reason::config_mismatch);
    BOOST_TEST(contains(end().refused.text, "the node's marker has nodes=5, but this client has "));
    BOOST_TEST(contains(end().refused.text, "clock_window=500; give"));
    BOOST_TEST(!contains(end().refused.text, "run"));
}

BOOST_AUTO_TEST_CASE(an_error_of_the_admission_refuses_the_node)
{
    open();
    introduce();
    send("-OOM no\r\n");

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "OOM no");
}

BOOST_AUTO_TEST_CASE(a_node_that_calls_itself_durable_is_asked_for_its_settings)
{
    node().durable = true;
    open();
    (void)wire->take();
    introduce();
    const std::string settings = wire->take();
    BOOST_TEST(contains(settings, "$6\r\nCONFIG\r\n$3\r\nGET\r\n$10\r\nappendonly\r\n"));

    send(
        "%1\r\n" + blob("appendonly") + blob("yes") + "%1\r\n" + blob("appendfsync") +
        blob("always") + "%1\r\n" + blob("no-appendfsync-on-rewrite") + blob("no")
    );
    BOOST_TEST(wire->take().ends_with(is_durable(true)));
    send(":0\r\n");
    BOOST_TEST(ready.has_value());
}

BOOST_AUTO_TEST_CASE(a_server_that_is_met_again_was_not_restarted)
{
    node().durable = node().trust_durable = true;
    for (const char* known : {"0", "1"})
    {
        open();
        (void)wire->take();
        introduce();
        BOOST_TEST(wire->take().ends_with(blob("1") + blob(known) + blob("0")));
        send(":0\r\n");
        wire->end({});
        settle();
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_overlaps_is_in_quarantine_while_it_is_refused)
{
    node().durable = node().trust_durable = true;
    (void)group.servers->meet(0, {"b", {}, 100s}, time->now().steady);
    advance(1s);
    open();
    introduce();
    BOOST_TEST(wire->take().ends_with(is_durable(true, restarted::no)));
    send(":1234\r\n");

    BOOST_TEST(!ready.has_value());
    BOOST_TEST(end().refused.why == reason::other_server);
    BOOST_TEST((end().refused.ends_in == group.guarded->quarantine - 1s));
    BOOST_TEST(!group.servers->was_admitted(0));
}

BOOST_AUTO_TEST_CASE(a_server_that_overlaps_is_admitted_when_the_last_one_was_away_for_a_quarantine)
{
    (void)group.servers->meet(0, {"b", {}, 100s}, time->now().steady);
    for (const bool too_early : {true, false})
    {
        advance(too_early ? group.guarded->quarantine - 1ms : 1ms);
        open();
        introduce();
        send(":0\r\n");
        BOOST_TEST(ready.has_value() == !too_early);
        lose();
    }
}

BOOST_AUTO_TEST_CASE(a_node_whose_settings_are_not_shown_is_not_durable)
{
    node().durable = true;
    open();
    introduce();
    (void)wire->take();
    send("-NOPERM no\r\n-NOPERM no\r\n-NOPERM no\r\n");

    BOOST_TEST(wire->take().ends_with(is_durable(false)));
}

BOOST_AUTO_TEST_CASE(settings_are_not_asked_for_where_the_operator_vouches_for_them)
{
    node().durable = true;
    node().trust_durable = true;
    open();
    introduce();

    BOOST_TEST(!contains(wire->written, "CONFIG"));
    BOOST_TEST(wire->take().ends_with(is_durable(true)));
}

BOOST_AUTO_TEST_CASE(a_link_that_looks_tells_the_marker_and_can_mark)
{
    group.seal = "note";
    open();
    introduce();
    BOOST_TEST(wire->take().ends_with("$4\r\nlook\r\n$4\r\nnote\r\n$5\r\n10000\r\n"));
    send("_\r\n");
    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->marker.empty());

    link->mark();
    BOOST_TEST(wire->take().ends_with("$4\r\nmark\r\n$4\r\nnote\r\n$5\r\n10000\r\n"));
    send(blob("somebody was first"));
    BOOST_TEST_REQUIRE(marked.has_value());
    BOOST_TEST(marked->marker == "somebody was first");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_without_a_marker, unmarked_link)

BOOST_AUTO_TEST_CASE(it_is_marked_as_soon_as_a_quorum_has_passed)
{
    BOOST_TEST(!ready.has_value());
    BOOST_TEST(wire->take().empty());
    let_another_pass();
    BOOST_TEST(was_marked());
    send(":1234\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->quarantine == 1234ms);
    BOOST_TEST(!ready->unmarked);
}

BOOST_AUTO_TEST_CASE(it_is_admitted_as_unmarked_after_a_second)
{
    advance(1s);
    answer_unmarked();
    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->unmarked);
    for (int i = 0; i < 5; ++i)
    {
        advance(1s);
        BOOST_TEST(!was_marked());
        send(blob("unmarked"));
    }
    BOOST_TEST(ended.empty());

    let_another_pass();
    BOOST_TEST(was_marked());
    send(":1234\r\n");
    BOOST_TEST((quarantines == std::vector{1234ms}));
    advance(1s);
    BOOST_TEST(contains(wire->take(), "$3\r\nGET\r\n"));
}

BOOST_AUTO_TEST_CASE(it_may_be_marked_by_another_client)
{
    advance(1s);
    BOOST_TEST(!was_marked());
    send(":0\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->quarantine == 0ms);
    BOOST_TEST(!ready->unmarked);
}

BOOST_AUTO_TEST_CASE(a_quorum_that_forms_while_it_is_asked_is_enough)
{
    advance(1s);
    (void)wire->take();
    let_another_pass();
    BOOST_TEST(wire->take().empty());
    send(blob("unmarked"));

    BOOST_TEST(was_marked());
}

BOOST_AUTO_TEST_CASE(it_counts_while_its_connection_is_open)
{
    let_another_pass();
    BOOST_TEST(group.passed->are_quorum());
    lose();
    BOOST_TEST(!group.passed->are_quorum());
}

BOOST_AUTO_TEST_CASE(a_node_with_a_foreign_marker_does_not_count)
{
    guarded_link foreign;
    foreign.group.passed->enter(1, other);
    foreign.open();
    foreign.introduce();
    foreign.send(blob("marked 'redlock 1;nodes=5;run"));

    BOOST_TEST(foreign.end().refused.why == reason::config_mismatch);
    BOOST_TEST(!foreign.group.passed->are_quorum());
}

BOOST_AUTO_TEST_CASE(it_is_given_up_when_it_is_silent)
{
    advance(1s);
    advance(3s);
    BOOST_TEST(end().code == asio::error::timed_out);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_wakes, queueing_link)

BOOST_AUTO_TEST_CASE(a_node_is_asked_to_wake_the_client_before_it_is_ready)
{
    open();
    send(introduction(healthy));
    // Together with the admission, which saves a round trip.
    const std::string asked = wire->take();
    BOOST_TEST(contains(asked, "$4\r\nEVAL\r\n"));
    BOOST_TEST(contains(asked, "$9\r\nSUBSCRIBE\r\n" + blob(group.guarded->channel())));
    BOOST_TEST(contains(asked, "$9\r\nSUBSCRIBE\r\n" + blob(group.guarded->next_channel())));
    BOOST_TEST(contains(asked, "$9\r\nSUBSCRIBE\r\n" + blob(group.guarded->revoked_channel())));
    BOOST_TEST(contains(asked, "$8\r\nTRACKING\r\n$2\r\nON\r\n$5\r\nOPTIN\r\n"));
    send(":0\r\n");
    BOOST_TEST(!ready.has_value());

    send(":0\r\n" + confirmation() + "+OK\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->polls.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_lets_nobody_subscribe_is_polled)
{
    admit();
    const std::string refusal = "-NOPERM no subscribe\r\n";
    send(":0\r\n" + refusal + refusal + refusal + "+OK\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->polls == "NOPERM no subscribe");
}

BOOST_AUTO_TEST_CASE(a_server_that_lets_nobody_publish_is_polled)
{
    admit();
    send("-NOPERM no publish\r\n" + confirmation() + "+OK\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->polls == "NOPERM no publish");
}

BOOST_AUTO_TEST_CASE(a_server_that_tracks_no_keys_says_so)
{
    admit();
    send(":0\r\n" + confirmation() + "-ERR unknown subcommand\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->polls == "ERR unknown subcommand");
}

BOOST_AUTO_TEST_CASE(a_message_wakes_for_the_key_that_it_names)
{
    make_ready();
    send(">3\r\n" + blob("message") + blob(group.guarded->channel()) + blob("orders:42"));

    BOOST_TEST(woken == "orders:42 ");
}

BOOST_AUTO_TEST_CASE(a_message_tells_for_how_long_a_key_is_reserved_for_another)
{
    make_ready();
    const std::string from = blob("message") + blob(group.guarded->next_channel());
    send(">3\r\n" + from + blob("50 orders:42"));
    BOOST_TEST(next == "orders:42 50 ");
    BOOST_TEST(woken.empty());

    for (const char* nonsense : {"", "50", "orders:42", " orders:42", "99999999999999999999 a"})
        send(">3\r\n" + from + blob(nonsense));
    BOOST_TEST(next == "orders:42 50 ");
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_message_tells_which_hold_of_a_key_is_revoked)
{
    make_ready();
    const std::string from = blob("message") + blob(group.guarded->revoked_channel());
    send(">3\r\n" + from + blob("1790000000000000 orders:42"));
    BOOST_TEST(revoked == "orders:42 1790000000000000 ");
    BOOST_TEST(woken.empty());
    BOOST_TEST(next.empty());

    for (const char* nonsense : {"", "50", "orders:42", " orders:42", "-1 orders:42"})
        send(">3\r\n" + from + blob(nonsense));
    BOOST_TEST(revoked == "orders:42 1790000000000000 ");
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_change_of_tracked_keys_is_told_for_each)
{
    make_ready();
    send(">2\r\n" + blob("invalidate") + "*2\r\n" + blob("a") + blob("b"));

    BOOST_TEST(changed == "a b ");
    BOOST_TEST(woken.empty());
}

BOOST_AUTO_TEST_CASE(other_pushes_wake_nobody)
{
    make_ready();
    send(">2\r\n" + blob("invalidate") + "_\r\n");
    send(">1\r\n" + blob("message"));
    send(">0\r\n");
    send(">3\r\n" + blob("subscribe") + blob("another") + ":2\r\n");

    BOOST_TEST(woken.empty());
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_link_vetting_tests
