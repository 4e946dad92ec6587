// A link from connecting to its loss: the test plays the server and lets the time pass.

#include "node/redis_link.hpp"

#include "node/commands.hpp"
#include "node/outbox.hpp"
#include "scripts.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/malformed_replies.hpp"
#include "support/manual_clock.hpp"
#include "support/printing.hpp"
#include "support/question_of_test.hpp"
#include "support/scripted_connection.hpp"

namespace redlock::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::verb;
using std::chrono::nanoseconds;

const std::string healthy =
    "run_id:a\r\nuptime_in_seconds:100\r\nrole:master\r\ncluster_enabled:0\r\nmaxmemory:0\r\n";

std::string blob(const std::string& text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

/// Replies to HELLO, so many SCRIPT LOAD, and INFO of four sections.
std::string introduction(
    const std::string& info,
    std::size_t scripts,
    const std::string& greeting = "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n"
)
{
    std::string replies = greeting;
    for (std::size_t script = 0; script < scripts; ++script)
        replies += blob(std::string(40, 'f'));
    return replies + blob(info) + blob("") + blob("") + blob("");
}

client_config plain_config()
{
    client_config config;
    config.nodes.resize(3);
    config.mode = mode::plain;
    return config;
}

client_config guarded_config(bool queue = false)
{
    client_config config;
    config.nodes.resize(3);
    config.waiting.queue = queue;
    return config;
}

/// One link to the first node of `config`, and what it tells.
class link_fixture
{
public:
    explicit link_fixture(client_config config = plain_config())
        : config_(std::move(config)), group(detail::make_link_group(config_))
    {
    }

    link_fixture(const link_fixture&) = delete;
    link_fixture& operator=(const link_fixture&) = delete;
    ~link_fixture() { wire->end({}); }  // Or its alarm would keep it.

    [[nodiscard]] node_config& node() { return config_.nodes[0]; }

    /// Starts the link. It connects until `open`.
    void start()
    {
        link = detail::make_redis_link(
            ground, group, 0, config_.nodes[0], std::make_unique<scripted_connection>(wire)
        );
        link->start({
            [this](const detail::admission& what) { ready = what; },
            [this](const detail::link_end& why) { ended.push_back(why); },
            [this](nanoseconds round_trip) { round_trips.push_back(round_trip); },
            [this](milliseconds left) { quarantines.push_back(left); },
            [this](const detail::question_ptr& lost) {
                lost_releases += lost->key();
                BOOST_TEST(ended.size() == 1u);  // Who asks again must know that.
            },
            [this](std::string_view key) { woken += std::string(key) + ' '; },
        });
    }

    void open()
    {
        start();
        wire->owner->on_open();
        settle();
    }

    /// Opens, and is vetted by a healthy server.
    void make_ready()
    {
        open();
        send(introduction(healthy, group.guarded ? 3 : 2));
        if (group.guarded)
            send(":0\r\n");
        BOOST_TEST_REQUIRE(ready.has_value());
        (void)wire->take();
    }

    /// Ends the turn, and what was closed.
    void settle()
    {
        context.restart();
        context.poll();
        if (wire->closing)
            wire->end(asio::error::operation_aborted);
        context.restart();
        context.poll();
    }

    void send(std::string_view bytes)
    {
        ground.end_of_turn->work([&] { wire->send(bytes); });
        settle();
    }

    void lose(error_code why = asio::error::connection_reset)
    {
        wire->end(why);
        settle();
    }

    void advance(nanoseconds by)
    {
        time->advance(by, [this] { settle(); });
    }

    question_of_test_ptr ask(verb what, const std::string& key)
    {
        auto asked = make_question(what, key);
        link->ask(asked);
        return asked;
    }

    [[nodiscard]] const detail::link_end& end() const
    {
        BOOST_TEST_REQUIRE(ended.size() == 1u);
        return ended.front();
    }

    asio::io_context context;
    std::shared_ptr<manual_clock> time = std::make_shared<manual_clock>();
    detail::strand_type strand{context.get_executor()};
    detail::link_ground ground{
        strand,
        std::make_shared<detail::turn>(context.get_executor(), strand),
        time
    };
    std::shared_ptr<scripted_wire> wire = std::make_shared<scripted_wire>();
    std::optional<detail::admission> ready;
    std::vector<detail::link_end> ended;
    std::vector<nanoseconds> round_trips;
    std::vector<milliseconds> quarantines;
    std::string woken;
    std::string lost_releases;

private:
    client_config config_;

public:
    detail::link_group group;
    std::shared_ptr<detail::redis_link> link;
};

/// A link of guarded mode.
struct guarded_link : link_fixture
{
    guarded_link() : link_fixture(guarded_config()) {}

    void introduce() { send(introduction(healthy, 3)); }
};

/// A link of a client that waits in queues.
struct queueing_link : link_fixture
{
    queueing_link() : link_fixture(guarded_config(true)) {}

    /// What comes before the question whether the node wakes those who wait.
    void admit()
    {
        open();
        send(introduction(healthy, 4));
        (void)wire->take();
        send(":0\r\n");
    }

    void make_ready()
    {
        admit();
        send(":0\r\n" + confirmation() + "+OK\r\n");
    }

    [[nodiscard]] std::string confirmation() const
    {
        return ">3\r\n" + blob("subscribe") + blob(group.guarded->channel()) + ":1\r\n";
    }
};

/// A link that is vetted.
struct ready_link : link_fixture
{
    ready_link() { make_ready(); }
};

struct ready_guarded_link : guarded_link
{
    ready_guarded_link() { make_ready(); }
};

std::string set(char key)
{
    return "*6\r\n$3\r\nSET\r\n$1\r\n" + std::string(1, key) + "\r\n$40\r\n" +
           std::string(40, key) + "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1500\r\n";
}

const std::string ping = "*1\r\n$4\r\nPING\r\n";

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
    const std::string replies = introduction(healthy, 2);
    for (const char byte : replies.substr(0, replies.size() - 1))
        send({&byte, 1});
    BOOST_TEST(!ready.has_value());

    send(replies.substr(replies.size() - 1));
    BOOST_TEST(ready.has_value());
    BOOST_TEST(ready->quarantine.count() == 0);
}

BOOST_AUTO_TEST_CASE(an_error_to_the_greeting_refuses_the_node_in_the_words_of_the_server)
{
    open();
    send(introduction(healthy, 2, "-WRONGPASS invalid password\r\n"));

    BOOST_TEST(!ready.has_value());
    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "WRONGPASS invalid password");
}

BOOST_AUTO_TEST_CASE(a_replica_is_refused)
{
    open();
    send(introduction("run_id:a\r\nrole:slave\r\n", 2));

    BOOST_TEST(end().refused.why == reason::replica);
}

BOOST_AUTO_TEST_CASE(a_server_that_another_entry_leads_to_is_refused)
{
    (void)group.servers->meet(1, "a", 100s, time->now());
    open();
    send(introduction(healthy, 2));

    BOOST_TEST(end().refused.why == reason::same_server);
    BOOST_TEST(contains(end().refused.text, "entry 2"));
}

BOOST_AUTO_TEST_CASE(servers_that_alternate_behind_one_entry_are_refused)
{
    (void)group.servers->meet(0, "b", 100s, time->now());
    group.servers->heard(0, time->now());
    open();
    send(introduction(healthy, 2));

    BOOST_TEST(end().refused.why == reason::other_server);
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

BOOST_AUTO_TEST_CASE(files_for_tls_that_are_of_no_use_refuse_the_node)
{
    node().tls.emplace();
    node().tls->ca_file = "/nonexistent/ca.pem";
    link = detail::make_redis_link(ground, group, 0, node());
    detail::link_events events;
    events.on_end = [this](const detail::link_end& why) { ended.push_back(why); };
    link->start(std::move(events));
    BOOST_TEST(ended.empty());
    settle();

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(contains(end().refused.text, "/nonexistent/ca.pem"));
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
    BOOST_TEST(contains(end().refused.text, "redlock 1;nodes=5'"));
    BOOST_TEST(contains(end().refused.text, ";clock_window=500'"));
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
    BOOST_TEST(wire->take().ends_with("$1\r\n1\r\n"));
    send(":0\r\n");
    BOOST_TEST(ready.has_value());
}

BOOST_AUTO_TEST_CASE(a_node_whose_settings_are_not_shown_is_not_durable)
{
    node().durable = true;
    open();
    introduce();
    (void)wire->take();
    send("-NOPERM no\r\n-NOPERM no\r\n-NOPERM no\r\n");

    BOOST_TEST(wire->take().ends_with("$1\r\n0\r\n"));
}

BOOST_AUTO_TEST_CASE(settings_are_not_asked_for_where_the_operator_vouches_for_them)
{
    node().durable = true;
    node().trust_durable = true;
    open();
    introduce();

    BOOST_TEST(!contains(wire->written, "CONFIG"));
    BOOST_TEST(wire->take().ends_with("$1\r\n1\r\n"));
}

BOOST_AUTO_TEST_CASE(a_link_that_looks_tells_the_marker_and_can_mark)
{
    group.look_note = "note";
    open();
    introduce();
    BOOST_TEST(wire->take().ends_with("$4\r\nlook\r\n$4\r\nnote\r\n$5\r\n10000\r\n"));
    send("_\r\n");
    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->marker.empty());

    std::optional<detail::not_marked> marked;
    link->mark([&](const detail::not_marked& why) { marked = why; });
    BOOST_TEST(wire->take().ends_with("$4\r\nmark\r\n$4\r\nnote\r\n$5\r\n10000\r\n"));
    send(blob("somebody was first"));
    BOOST_TEST_REQUIRE(marked.has_value());
    BOOST_TEST(marked->marker == "somebody was first");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_wakes, queueing_link)

BOOST_AUTO_TEST_CASE(a_node_is_asked_to_wake_the_client_before_it_is_ready)
{
    admit();
    const std::string asked = wire->take();
    BOOST_TEST(contains(asked, "$9\r\nSUBSCRIBE\r\n" + blob(group.guarded->channel())));
    BOOST_TEST(contains(asked, "$8\r\nTRACKING\r\n$2\r\nON\r\n$5\r\nOPTIN\r\n"));
    BOOST_TEST(!ready.has_value());

    send(":0\r\n" + confirmation() + "+OK\r\n");

    BOOST_TEST_REQUIRE(ready.has_value());
    BOOST_TEST(ready->polls.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_lets_nobody_subscribe_is_polled)
{
    admit();
    send(":0\r\n-NOPERM no subscribe\r\n+OK\r\n");

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

BOOST_AUTO_TEST_CASE(a_change_of_watched_keys_wakes_for_each)
{
    make_ready();
    send(">2\r\n" + blob("invalidate") + "*2\r\n" + blob("a") + blob("b"));

    BOOST_TEST(woken == "a b ");
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

BOOST_FIXTURE_TEST_SUITE(test_link_silence, ready_link)

BOOST_AUTO_TEST_CASE(an_idle_connection_is_probed_each_second)
{
    for (int probe = 0; probe < 5; ++probe)
    {
        BOOST_TEST(wire->take().empty());
        advance(1s);
        BOOST_TEST(wire->take() == ping);
        send("+PONG\r\n");
    }
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(any_reply_to_a_probe_is_a_sign_of_life)
{
    advance(1s);
    send("-LOADING Redis is loading the dataset in memory\r\n");
    advance(1500ms);

    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_answer_a_probe_is_given_up)
{
    advance(1s);
    advance(1s + 199ms);
    BOOST_TEST(ended.empty());
    advance(1ms);

    BOOST_TEST(end().code == asio::error::timed_out);
}

BOOST_AUTO_TEST_CASE(a_question_is_a_probe_itself)
{
    ask(verb::acquire, "a");
    settle();
    BOOST_TEST(wire->take() == set('a'));
    advance(1s);

    BOOST_TEST(wire->take().empty());
}

BOOST_AUTO_TEST_CASE(half_a_reply_is_no_sign_of_life)
{
    advance(1s);
    send("+PO");
    advance(1200ms);

    BOOST_TEST(end().code == asio::error::timed_out);
}

BOOST_AUTO_TEST_CASE(a_node_that_answers_one_command_after_the_other_is_not_silent)
{
    for (const char key : std::string("abcd"))
        ask(verb::acquire, {key});
    settle();
    for (int answer = 0; answer < 4; ++answer)
    {
        advance(900ms);
        send("+OK\r\n");
    }

    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_process_that_stood_still_reads_before_it_judges)
{
    ask(verb::acquire, "a");
    settle();
    advance(1s);  // What the vetting heard is forgotten.
    time->stand_still(1min);
    advance(199ms);
    BOOST_TEST(ended.empty());
    send("+OK\r\n");
    advance(1s);

    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_reply_to_a_probe_is_told_to_those_who_keep_track_of_servers)
{
    advance(1s);
    send("+PONG\r\n");

    // Another server, started before that.
    const auto found = group.servers->meet(0, "b", 10s, time->now());
    BOOST_TEST((found == core::incarnations::finding::other_server));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_questions, ready_link)

BOOST_AUTO_TEST_CASE(questions_of_a_turn_share_a_write_and_releases_go_first)
{
    const auto acquisition = ask(verb::acquire, "a");
    const auto given_back = ask(verb::release, "b");
    BOOST_TEST(wire->written.empty());
    settle();

    BOOST_TEST(wire->writes == 2u);  // The first was the greeting.
    BOOST_TEST(wire->written.starts_with("*5\r\n$7\r\nEVALSHA\r\n"));
    BOOST_TEST(wire->written.ends_with(set('a')));
    BOOST_TEST(acquisition->sent().test(0));

    send(":1\r\n+OK\r\n");
    BOOST_TEST((given_back->vote == vote::granted));
    BOOST_TEST((acquisition->vote == vote::granted));
    BOOST_TEST(link->unanswered() == 0u);
}

BOOST_AUTO_TEST_CASE(each_answer_is_told_as_soon_as_it_is_there)
{
    const auto first = ask(verb::acquire, "a");
    const auto second = ask(verb::acquire, "b");
    settle();
    send("_\r\n+O");

    BOOST_TEST((first->vote == vote::denied));
    BOOST_TEST(second->answers == 0u);
    BOOST_TEST(round_trips.empty());
}

BOOST_AUTO_TEST_CASE(how_long_a_batch_took_is_told)
{
    ask(verb::acquire, "a");
    settle();
    advance(7ms);
    send("+OK\r\n");

    BOOST_TEST_REQUIRE(round_trips.size() == 1u);
    BOOST_TEST((round_trips.front() == 7ms));
}

BOOST_AUTO_TEST_CASE(what_was_given_up_before_it_was_written_is_not_asked)
{
    const auto unwanted = ask(verb::acquire, "a");
    unwanted->give_up();
    ask(verb::acquire, "b");
    settle();

    BOOST_TEST(wire->take() == set('b'));
    BOOST_TEST(unwanted->answers == 1u);
    BOOST_TEST((unwanted->vote == vote::refused));
}

BOOST_AUTO_TEST_CASE(a_script_that_the_server_forgot_is_sent_with_its_text_once)
{
    const auto given_back = ask(verb::release, "b");
    settle();
    (void)wire->take();
    send("-NOSCRIPT No matching script.\r\n");
    BOOST_TEST(given_back->answers == 0u);
    BOOST_TEST(contains(wire->take(), "$4\r\nEVAL\r\n"));

    send("-NOSCRIPT No matching script.\r\n");
    BOOST_TEST((given_back->vote == vote::refused));
    BOOST_TEST(wire->take().empty());
}

BOOST_AUTO_TEST_CASE(a_question_that_was_given_up_is_not_asked_again)
{
    const auto given_back = ask(verb::release, "b");
    settle();
    (void)wire->take();
    given_back->give_up();
    send("-NOSCRIPT No matching script.\r\n");

    BOOST_TEST(wire->take().empty());
    BOOST_TEST(given_back->answers == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_that_owes_too_many_answers_gets_no_further_batch)
{
    for (std::size_t batch = 0; batch < detail::outbox::max_written; ++batch)
    {
        ask(verb::acquire, "a");
        settle();
    }
    (void)wire->take();
    const auto first = ask(verb::acquire, "b");
    settle();
    const auto second = ask(verb::acquire, "c");
    settle();
    BOOST_TEST(wire->take().empty());

    send("+OK\r\n");
    BOOST_TEST(wire->take() == set('b') + set('c'));
    BOOST_TEST(link->unanswered() == detail::outbox::max_written + 1);
}

BOOST_AUTO_TEST_CASE(a_node_that_owes_answers_is_written_to_last)
{
    link_fixture other;
    other.ground = ground;
    other.make_ready();
    ask(verb::acquire, "a");
    settle();

    ask(verb::acquire, "b");
    other.ask(verb::acquire, "b");
    (void)wire->take();
    std::size_t written_before = 1;
    struct probe final : detail::turn_task
    {
        void on_turn_end() override { *found = wire->written.size(); }
        scripted_wire* wire = nullptr;
        std::size_t* found = nullptr;
    } between;
    between.wire = wire.get();
    between.found = &written_before;
    ground.end_of_turn->defer(between);
    settle();

    BOOST_TEST(other.wire->written == set('b'));
    BOOST_TEST(written_before == 0u);
    BOOST_TEST(wire->written == set('b'));
}

BOOST_AUTO_TEST_CASE(a_push_is_no_answer_wherever_it_comes)
{
    const auto asked = ask(verb::acquire, "a");
    settle();
    const std::string push = ">2\r\n+invalidate\r\n*1\r\n+a\r\n";
    send(push + "|1\r\n+ttl\r\n:3\r\n+OK\r\n" + push);

    BOOST_TEST((asked->vote == vote::granted));
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_loss, ready_link)

BOOST_AUTO_TEST_CASE(what_has_no_answer_fails_and_releases_are_handed_back)
{
    const auto answered = ask(verb::acquire, "a");
    const auto written = ask(verb::acquire, "b");
    settle();
    send("+OK\r\n");
    const auto given_back = ask(verb::release, "c");
    settle();
    const auto unwritten = ask(verb::release, "d");
    lose();

    BOOST_TEST((answered->vote == vote::granted));
    for (const auto& each : {written, given_back, unwritten})
    {
        BOOST_TEST(each->answers == 1u);
        BOOST_TEST(each->why == reason::connection_lost);
        BOOST_TEST(each->code == asio::error::connection_reset);
    }
    BOOST_TEST(lost_releases == "cd");
    BOOST_TEST(link->unanswered() == 0u);
    BOOST_TEST(!time->next().has_value());
}

BOOST_AUTO_TEST_CASE(a_question_that_was_to_be_asked_again_fails_with_the_others)
{
    const auto given_back = ask(verb::release, "b");
    settle();
    wire->send("-NOSCRIPT No matching script.\r\n");
    lose();

    BOOST_TEST(given_back->why == reason::connection_lost);
    BOOST_TEST(lost_releases == "b");
}

BOOST_AUTO_TEST_CASE(what_is_asked_of_a_lost_link_fails)
{
    lose();
    const auto late = ask(verb::acquire, "a");
    settle();

    BOOST_TEST(late->why == reason::connection_lost);
}

BOOST_AUTO_TEST_CASE(a_reply_to_no_command_ends_the_connection)
{
    send("+OK\r\n");

    BOOST_TEST(end().code.message() == "a reply to no command");
}

BOOST_AUTO_TEST_CASE(what_is_no_reply_ends_the_connection_and_tells_what_was_wrong)
{
    const auto asked = ask(verb::acquire, "a");
    settle();
    send("$\r\n");

    BOOST_TEST(end().code.message() == "the length of a string is not a number");
    BOOST_TEST(asked->why == reason::connection_lost);
}

BOOST_AUTO_TEST_CASE(whatever_is_malformed_ends_the_connection_with_its_own_error)
{
    for (const malformed_reply& each : malformed_replies())
    {
        BOOST_TEST_CONTEXT(each.name)
        {
            ready_link fresh;
            const auto asked = fresh.ask(verb::acquire, "a");
            fresh.settle();
            fresh.send(each.bytes);

            BOOST_TEST(fresh.end().code == error_code(each.why));
            BOOST_TEST((asked->vote == vote::unknown));
        }
    }
}

BOOST_AUTO_TEST_CASE(replies_behind_what_is_none_are_not_read)
{
    const auto first = ask(verb::acquire, "a");
    const auto second = ask(verb::acquire, "b");
    settle();
    send("+OK\r\n?\r\n+OK\r\n");

    BOOST_TEST((first->vote == vote::granted));
    BOOST_TEST((second->vote == vote::unknown));
}

BOOST_AUTO_TEST_CASE(a_link_that_is_closed_ends_once)
{
    const auto asked = ask(verb::acquire, "a");
    settle();
    link->close();
    link->close();
    settle();

    BOOST_TEST(end().code == asio::error::operation_aborted);
    BOOST_TEST(asked->why == reason::connection_lost);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_link_of_a_node_that_forgot, ready_guarded_link)

BOOST_AUTO_TEST_CASE(an_unmarked_node_is_refused_when_its_batch_is_answered)
{
    const auto first = make_question(verb::acquire, "a", 1500ms, 7);
    const auto second = make_question(verb::extend, "b", 1500ms, 8);
    link->ask(first);
    link->ask(second);
    settle();
    send("*4\r\n:-3\r\n:8\r\n:0\r\n:1700000000000000\r\n");
    BOOST_TEST(ended.empty());
    send(":7\r\n");

    BOOST_TEST(second->why == reason::unmarked);
    BOOST_TEST((first->vote == vote::granted));
    BOOST_TEST(end().refused.why == reason::unmarked);
}

BOOST_AUTO_TEST_CASE(a_quarantine_is_told_when_the_batch_is_answered)
{
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    settle();
    send("*4\r\n:-4\r\n:7\r\n:250\r\n:1700000000000000\r\n");

    BOOST_TEST_REQUIRE(quarantines.size() == 1u);
    BOOST_TEST(quarantines.front() == 250ms);
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::test
