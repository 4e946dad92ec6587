// A node through its states: the test plays its links and lets the time pass.

#include "node/redis_node.hpp"

#include "core/limits.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/printing.hpp"
#include "support/question_of_test.hpp"
#include "testing/loop.hpp"
#include "testing/manual_time.hpp"

namespace redis_node_tests {

using namespace redlock;
using namespace redlock::test;

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::verb;
using std::chrono::nanoseconds;

/// A link whose events are the test's.
class scripted_link final : public detail::redis_link
{
public:
    void start(std::shared_ptr<owner> of) override { node = std::move(of); }

    void ask(detail::question_ptr question) override
    {
        asked += question->key();
        kept.push_back(std::move(question));
    }

    [[nodiscard]] std::size_t unanswered() const noexcept override { return owed + kept.size(); }
    [[nodiscard]] std::size_t unanswered_releases() const noexcept override
    {
        return static_cast<std::size_t>(
            std::ranges::count(kept, verb::release, [](const auto& each) { return each->what(); })
        );
    }
    [[nodiscard]] nanoseconds shortest_round_trip() const noexcept override { return 1ms; }
    void mark() override {}
    void close() noexcept override { closing = true; }

    std::shared_ptr<owner> node;  ///< Null: it was told the end.
    std::string asked;            ///< The keys, in order.
    std::vector<detail::question_ptr> kept;
    std::size_t owed = 0;
    bool closing = false;
};

/// What a node has told its client.
struct told_client final : detail::node::owner
{
    void on_node_change() override { ++changes; }
    void on_node_stopped() override { ++stops; }
    void on_news(std::size_t, const detail::news&) override {}

    int changes = 0;
    int stops = 0;
};

class node_fixture
{
public:
    node_fixture()
    {
        config.nodes.resize(1);
        config.log = [this](log_level level, std::string_view line) {
            log.emplace_back(level, line);
        };
        subject = detail::make_redis_node(
            {strand, nullptr, time},
            [this]() {
                links.push_back(std::make_shared<scripted_link>());
                return links.back();
            },
            0,
            config
        );
    }

    node_fixture(const node_fixture&) = delete;
    node_fixture& operator=(const node_fixture&) = delete;

    ~node_fixture()
    {
        // Alarms own the node.
        subject->stop();
        for (const auto& each : links)
            finish(*each, {});
        advance(0s);
    }

    void start() { subject->start(client); }

    void make_ready(milliseconds quarantine = 0ms)
    {
        if (links.empty())
            start();
        link().node->on_ready({quarantine, {}, {}});
    }

    [[nodiscard]] scripted_link& link() { return *links.back(); }

    void finish(scripted_link& which, const detail::link_end& why)
    {
        if (const auto owner = std::exchange(which.node, nullptr))
        {
            owner->on_end(why);
            owner->on_gone();
        }
        settle();
    }

    void lose(error_code why = asio::error::connection_reset) { finish(link(), {why, {}, {}}); }

    void refuse(reason why, const std::string& text) { finish(link(), {{}, {why, text}, {}}); }

    void settle()
    {
        context.restart();
        context.poll();
    }

    void advance(nanoseconds by)
    {
        testing::advance(*time, by, [this] { settle(); });
    }

    /// Puts a question to the node.
    question_of_test_ptr ask(verb what, const std::string& key, milliseconds ttl = 1500ms)
    {
        auto asked = make_question(what, key, ttl);
        at_once = subject->ask(asked);
        if (at_once)
            text_at_once = at_once->text;
        return asked;
    }

    [[nodiscard]] node_state state() const { return subject->status().state; }

    asio::io_context context;
    detail::strand_type strand{context.get_executor()};
    std::shared_ptr<testing::manual_time> time = std::make_shared<testing::manual_time>(strand);
    client_config config;
    std::vector<std::pair<log_level, std::string>> log;
    std::vector<std::shared_ptr<scripted_link>> links;
    std::shared_ptr<detail::node> subject;
    std::optional<detail::reply> at_once;  ///< The answer to the last question, if there was one.
    std::string text_at_once;
    std::shared_ptr<told_client> client = std::make_shared<told_client>();
};

struct ready_node : node_fixture
{
    ready_node() { make_ready(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_node_states, node_fixture)

BOOST_AUTO_TEST_CASE(a_question_waits_for_the_first_connection)
{
    start();
    BOOST_TEST(state() == node_state::connecting);
    const auto asked = ask(verb::acquire, "a");
    const auto given_up = ask(verb::acquire, "b");
    BOOST_TEST(!at_once.has_value());
    given_up->give_up();
    BOOST_TEST(link().asked.empty());

    make_ready();
    BOOST_TEST(state() == node_state::ready);
    BOOST_TEST(link().asked == "a");
    BOOST_TEST(asked->answers == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_still_connects_while_there_is_another_way_to_it)
{
    start();
    const auto asked = ask(verb::acquire, "a");
    finish(link(), {{}, {reason::replica, "it is a replica"}, {}, true});
    BOOST_TEST(state() == node_state::connecting);
    BOOST_TEST(client->changes == 0);
    BOOST_TEST(asked->answers == 0u);

    advance(100ms);
    BOOST_TEST_REQUIRE(links.size() == 2u);
    make_ready();
    BOOST_TEST(link().asked == "a");

    // Once it was connected, the loss counts.
    finish(link(), {asio::error::connection_reset, {}, {}, true});
    BOOST_TEST(state() == node_state::down);
}

BOOST_AUTO_TEST_CASE(a_question_that_waits_for_another_way_is_answered_when_the_session_ends)
{
    start();
    const auto asked = ask(verb::acquire, "a");
    finish(link(), {{}, {reason::replica, "it is a replica"}, {}, true});
    BOOST_TEST(asked->answers == 0u);

    subject->stop();
    settle();
    BOOST_TEST(asked->answers == 1u);
    BOOST_TEST(client->stops == 1);
}

BOOST_AUTO_TEST_CASE(a_question_that_waits_fails_if_the_connection_does)
{
    start();
    const auto asked = ask(verb::acquire, "a");
    lose(asio::error::connection_refused);

    BOOST_TEST(state() == node_state::down);
    BOOST_TEST(asked->answers == 1u);
    BOOST_TEST(asked->why == reason::down);
    BOOST_TEST(asked->code == asio::error::connection_refused);
}

BOOST_AUTO_TEST_CASE(so_many_questions_may_wait)
{
    start();
    for (std::size_t count = 0; count < core::max_unanswered; ++count)
        ask(verb::acquire, "a");
    BOOST_TEST(!at_once.has_value());
    ask(verb::acquire, "b");

    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST(at_once->why == reason::overloaded);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_down_answers_at_once)
{
    make_ready();
    lose();
    ask(verb::acquire, "a");

    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST((at_once->vote == vote::unknown));
    BOOST_TEST(at_once->why == reason::down);
    BOOST_TEST(at_once->code == asio::error::connection_reset);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_refused_answers_with_the_refusal)
{
    start();
    refuse(reason::replica, "the server's role is 'slave', must be 'master'");
    BOOST_TEST(state() == node_state::rejected);
    ask(verb::acquire, "a");

    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST((at_once->vote == vote::refused));
    BOOST_TEST(at_once->why == reason::replica);
    BOOST_TEST(text_at_once == "the server's role is 'slave', must be 'master'");
}

BOOST_AUTO_TEST_CASE(a_node_that_lost_its_marker_is_down_and_not_rejected)
{
    make_ready();
    refuse(reason::unmarked, "the node has lost its data");

    BOOST_TEST(state() == node_state::down);
    BOOST_TEST(subject->status().because == "the node has lost its data");
    BOOST_TEST(subject->status().reason == reason::unmarked);
}

BOOST_AUTO_TEST_CASE(its_status_gives_the_reason_to_programs_until_it_is_ready)
{
    make_ready();
    BOOST_TEST(subject->status().reason == reason::none);

    lose(asio::error::connection_reset);
    BOOST_TEST(subject->status().reason == reason::down);
    BOOST_TEST(subject->status().code == asio::error::connection_reset);

    advance(2s);
    refuse(reason::replica, "the server's role is 'slave', must be 'master'");
    BOOST_TEST(subject->status().reason == reason::replica);
    BOOST_TEST(subject->status().code == error_code());

    advance(2s);
    make_ready(100ms);
    BOOST_TEST(subject->status().reason == reason::quarantined);

    advance(101ms);
    BOOST_TEST(state() == node_state::ready);
    BOOST_TEST(subject->status().reason == reason::none);
}

BOOST_AUTO_TEST_CASE(a_refusal_tells_once_until_when_it_lasts)
{
    make_ready();
    const int before = client->changes;
    for (const auto left : {20s, 19s, 5s})
    {
        finish(link(), {{}, {reason::other_server, "two servers", left}, {}});
        advance(2s);
    }
    BOOST_TEST(client->changes == before + 1);
    BOOST_TEST(log.size() == 2u);
    BOOST_TEST(subject->status().because.starts_with("two servers until "));
    BOOST_TEST(subject->status().because.ends_with(" UTC"));
    BOOST_TEST(log.back().second.ends_with(subject->status().because));
}

BOOST_AUTO_TEST_CASE(each_change_is_logged_and_told_once)
{
    make_ready();
    lose(asio::error::connection_refused);
    for (int attempt = 0; attempt < 3; ++attempt)
    {
        advance(2s);
        lose(asio::error::connection_refused);
    }
    BOOST_TEST(client->changes == 2);
    BOOST_TEST_REQUIRE(log.size() == 2u);
    BOOST_TEST(log[0].second == "node " + subject->status().node + " is ready");
    BOOST_TEST((log[1].first == log_level::warning));

    advance(2s);
    refuse(reason::cluster, "the server belongs to a cluster");
    BOOST_TEST((log.back().first == log_level::error));
}

BOOST_AUTO_TEST_CASE(what_a_node_refuses_is_told_and_it_stays_ready)
{
    make_ready();
    const std::string name = "node " + subject->status().node;
    link().node->on_refused("OOM no memory");
    BOOST_TEST(state() == node_state::ready);
    BOOST_TEST(subject->status().refuses == "OOM no memory");
    BOOST_TEST((log.back().first == log_level::error));
    BOOST_TEST(log.back().second == name + " refuses commands: OOM no memory");
    BOOST_TEST(client->changes == 2);

    link().node->on_refused("");
    BOOST_TEST(subject->status().refuses.empty());
    BOOST_TEST((log.back().first == log_level::info));
    BOOST_TEST(log.back().second == name + " no longer refuses commands");
    BOOST_TEST(client->changes == 3);
}

BOOST_AUTO_TEST_CASE(a_refusal_of_commands_ends_with_the_connection)
{
    make_ready();
    link().node->on_refused("OOM no memory");
    lose();
    BOOST_TEST(subject->status().refuses.empty());
}

BOOST_AUTO_TEST_CASE(errors_that_alternate_while_a_node_is_down_are_logged_once)
{
    make_ready();
    log.clear();
    for (int attempt = 0; attempt < 3; ++attempt)
    {
        lose(asio::error::eof);
        advance(2s);
        lose(asio::error::connection_reset);
        advance(2s);
    }

    BOOST_TEST(log.size() == 1u);
    BOOST_TEST(subject->status().because == error_code(asio::error::connection_reset).message());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_node_reconnection, ready_node)

BOOST_AUTO_TEST_CASE(a_lost_connection_is_followed_by_another_after_a_pause)
{
    lose();
    BOOST_TEST(links.size() == 1u);
    advance(50ms);

    BOOST_TEST(links.size() == 2u);
    BOOST_TEST(state() == node_state::down);
    make_ready();
    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_CASE(pauses_never_exceed_two_seconds_however_often_it_fails)
{
    for (std::size_t attempt = 1; attempt < 30; ++attempt)
    {
        lose(asio::error::connection_refused);
        BOOST_TEST_REQUIRE(time->next().has_value());
        BOOST_TEST((*time->next() > time->elapsed()));
        advance(2s);
        BOOST_TEST(links.size() == attempt + 1);
    }
}

BOOST_AUTO_TEST_CASE(after_a_success_the_pauses_are_short_again)
{
    for (int attempt = 0; attempt < 20; ++attempt)
    {
        lose();
        advance(2s);
    }
    make_ready();
    lose();

    BOOST_TEST((*time->next() <= time->elapsed() + 50ms));
}

BOOST_AUTO_TEST_CASE(a_rejected_node_is_tried_again)
{
    refuse(reason::replica, "a replica");
    advance(50ms);
    make_ready();

    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_node_releases, ready_node)

BOOST_AUTO_TEST_CASE(a_release_is_kept_for_the_next_connection)
{
    lose();
    const auto kept = ask(verb::release, "a");
    BOOST_TEST(at_once.has_value());
    advance(50ms);
    make_ready();

    BOOST_TEST(link().asked == "a");
    BOOST_TEST(kept->answers == 0u);
}

BOOST_AUTO_TEST_CASE(a_release_whose_keys_have_expired_is_not_sent)
{
    lose();
    ask(verb::release, "a", 500ms);
    ask(verb::release, "b", 1000ms);
    advance(500ms);
    make_ready();

    BOOST_TEST(link().asked == "b");
}

BOOST_AUTO_TEST_CASE(a_release_that_got_no_answer_crosses_over_as_a_new_command)
{
    const auto asked = ask(verb::release, "a");
    auto& lost = link();
    lost.node->on_end({asio::error::connection_reset, {}, {}});
    lost.node->on_lost_release(asked);
    lost.node->on_gone();
    lost.node = nullptr;
    advance(50ms);
    make_ready();

    BOOST_TEST(lost.asked == "a");
    BOOST_TEST(link().asked == "a");
}

BOOST_AUTO_TEST_CASE(kept_releases_are_owed_until_a_first_attempt_to_connect_again_has_failed)
{
    lose();
    ask(verb::release, "a");
    BOOST_TEST(subject->owed_releases() == 1u);

    advance(50ms);
    BOOST_TEST(subject->owed_releases() == 1u);

    lose();
    BOOST_TEST(subject->owed_releases() == 0u);
}

BOOST_AUTO_TEST_CASE(what_a_lost_link_has_not_failed_yet_is_owed)
{
    make_ready();
    ask(verb::release, "a");
    link().node->on_end({asio::error::connection_reset, {}, {}});
    BOOST_TEST(subject->owed_releases() == 1u);

    subject->stop();
    settle();
    BOOST_TEST(client->stops == 0);
    link().node->on_gone();
    settle();
    BOOST_TEST(client->stops == 1);
    link().node = nullptr;
}

BOOST_AUTO_TEST_CASE(the_oldest_release_makes_room)
{
    lose();
    ask(verb::release, "a");
    for (std::size_t count = 0; count < core::max_pending_releases; ++count)
        ask(verb::release, "b");
    advance(50ms);
    make_ready();

    BOOST_TEST(!link().asked.empty());
    BOOST_TEST(link().asked.find('a') == std::string::npos);
    BOOST_TEST(subject->owed_releases() == core::max_pending_releases);
}

BOOST_AUTO_TEST_CASE(kept_releases_are_sent_some_at_a_time)
{
    lose();
    for (std::size_t count = 0; count < 3000; ++count)
        ask(verb::release, "a");
    advance(50ms);
    make_ready();
    BOOST_TEST(link().asked.size() == 1024u);

    for (const std::size_t sent : {2048U, 3000U, 3000U})
    {
        link().node->on_answered(1ms);
        BOOST_TEST(link().asked.size() == sent);
    }
}

BOOST_AUTO_TEST_CASE(an_overloaded_node_keeps_releases_until_there_is_room)
{
    link().owed = core::max_unanswered;
    ask(verb::acquire, "a");
    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST(at_once->why == reason::overloaded);
    ask(verb::release, "b");
    BOOST_TEST(!at_once.has_value());
    BOOST_TEST(link().asked.empty());
    BOOST_TEST(subject->owed_releases() == 1u);

    link().owed = 0;
    link().node->on_answered(1ms);
    BOOST_TEST(link().asked == "b");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_node_quarantine, node_fixture)

BOOST_AUTO_TEST_CASE(only_what_grants_nothing_is_put_to_a_node_in_quarantine)
{
    make_ready(300ms);
    BOOST_TEST(state() == node_state::quarantined);
    ask(verb::acquire, "a");
    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST((at_once->vote == vote::refused));
    BOOST_TEST(at_once->why == reason::quarantined);
    BOOST_TEST((at_once->ready_in == 301ms));
    ask(verb::extend, "b");
    ask(verb::release, "c");
    ask(verb::holder, "d");

    BOOST_TEST(link().asked == "cd");
}

BOOST_AUTO_TEST_CASE(a_node_without_a_marker_is_in_quarantine_without_a_known_end)
{
    start();
    link().node->on_ready({0ms, {}, {}, true});
    BOOST_TEST(state() == node_state::quarantined);
    BOOST_TEST(subject->status().because.find("1 of the 1 nodes") != std::string::npos);
    ask(verb::acquire, "a");
    BOOST_TEST_REQUIRE(at_once.has_value());
    BOOST_TEST(at_once->why == reason::quarantined);
    BOOST_TEST(!at_once->ready_in.has_value());
    ask(verb::release, "b");
    BOOST_TEST(link().asked == "b");

    link().node->on_quarantined(300ms);
    ask(verb::acquire, "a");
    BOOST_TEST((at_once->ready_in == 301ms));
    advance(301ms);
    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_quarantine_ends_by_the_clock)
{
    make_ready(300ms);
    advance(300ms);
    BOOST_TEST(state() == node_state::quarantined);
    advance(1ms);

    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_node_may_say_that_its_quarantine_lasts_longer)
{
    make_ready(300ms);
    advance(301ms);
    link().node->on_quarantined(100ms);
    BOOST_TEST(state() == node_state::quarantined);
    advance(101ms);

    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_quarantine_without_an_end_is_looked_at_again_after_a_day)
{
    make_ready(forever);
    advance(24h);
    BOOST_TEST(state() == node_state::quarantined);
    advance(1ms);

    BOOST_TEST(state() == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_in_quarantine_is_followed_by_another)
{
    make_ready(300ms);
    lose();
    advance(50ms);
    BOOST_TEST(links.size() == 2u);
    advance(1s);

    BOOST_TEST(state() == node_state::down);
}

BOOST_AUTO_TEST_CASE(releases_are_sent_as_soon_as_a_quarantined_node_is_connected)
{
    make_ready();
    lose();
    ask(verb::release, "a");
    advance(50ms);
    make_ready(300ms);

    BOOST_TEST(link().asked == "a");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(test_node_end, node_fixture)

BOOST_AUTO_TEST_CASE(a_node_that_is_connected_stops_when_its_link_has_ended)
{
    make_ready();
    subject->stop();
    BOOST_TEST(link().closing);
    advance(1min);
    BOOST_TEST(client->stops == 0);
    lose(asio::error::operation_aborted);

    BOOST_TEST(client->stops == 1);
    BOOST_TEST(!time->next().has_value());
}

BOOST_AUTO_TEST_CASE(a_node_that_pauses_stops_at_once)
{
    make_ready();
    lose();
    subject->stop();
    BOOST_TEST(client->stops == 0);  // Never in place.
    advance(0s);

    BOOST_TEST(client->stops == 1);
    BOOST_TEST(links.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_in_quarantine_stops_without_another_change)
{
    make_ready(300ms);
    const int before = client->changes;
    subject->stop();
    link().node->on_quarantined(1s);
    advance(1s);
    BOOST_TEST(client->changes == before);
    lose(asio::error::operation_aborted);
    advance(1min);

    BOOST_TEST(client->stops == 1);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_connection_fails_at_the_end)
{
    start();
    const auto asked = ask(verb::acquire, "a");
    subject->stop();
    lose(asio::error::operation_aborted);

    BOOST_TEST(asked->answers == 1u);
    BOOST_TEST(client->stops == 1);
}

BOOST_AUTO_TEST_CASE(the_smoothed_round_trip_is_told)
{
    make_ready();
    BOOST_TEST(subject->round_trip().count() == 0);
    link().node->on_answered(80us);

    BOOST_TEST((subject->round_trip() == 80us));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_node_tests
