// A link in use, up to its loss: the test plays the server and lets the time pass.

#include "node/pipeline.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/link_fixture.hpp"
#include "support/malformed_replies.hpp"
#include "support/printing.hpp"

namespace redis_link_tests {

using namespace redlock;
using namespace redlock::test;

namespace {

std::string set(char key)
{
    return "*6\r\n$3\r\nSET\r\n$1\r\n" + std::string(1, key) + "\r\n$40\r\n" +
           std::string(40, key) + "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1500\r\n";
}

const std::string ping = "*1\r\n$4\r\nPING\r\n";
const std::string ask_for_role = "*1\r\n$4\r\nROLE\r\n";
const std::string a_master = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";

std::string id_of(char key)
{
    return std::string(40, key);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_link_silence, ready_link)

BOOST_AUTO_TEST_CASE(an_idle_connection_is_probed_each_second)
{
    for (int probe = 0; probe < 5; ++probe)
    {
        BOOST_TEST(wire->take().empty());
        advance(1s);
        BOOST_TEST(wire->take() == ask_for_role);
        send(a_master);
    }
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(an_idle_server_that_became_a_replica_is_refused)
{
    advance(1s);
    send("*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$7\r\nconnect\r\n:-1\r\n");

    BOOST_TEST(end().refused.why == reason::replica);
    BOOST_TEST(end().refused.text == "the server's role is 'slave', must be 'master'");
}

BOOST_AUTO_TEST_CASE(an_idle_server_that_says_it_is_no_master_is_refused_in_its_words)
{
    advance(1s);
    send("-LOADING Redis is loading the dataset in memory\r\n");

    BOOST_TEST(end().refused.why == reason::rejected);
    BOOST_TEST(end().refused.text == "LOADING Redis is loading the dataset in memory");
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_tell_its_role_is_alive_and_asked_no_more)
{
    advance(1s);
    send("-NOPERM this user has no permissions to run the 'role' command\r\n");
    for (int probe = 0; probe < 3; ++probe)
    {
        (void)wire->take();
        advance(1s);
        BOOST_TEST(wire->take() == ping);
        send("+PONG\r\n");
    }

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

BOOST_AUTO_TEST_CASE(what_nobody_asked_for_is_no_sign_that_a_node_answers)
{
    advance(1s);
    send(">2\r\n+invalidate\r\n*1\r\n+a\r\n");
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
    time->advance(1min);
    advance(199ms);
    BOOST_TEST(ended.empty());
    send("+OK\r\n");
    advance(1s);

    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(a_reply_to_a_probe_is_told_to_those_who_keep_track_of_servers)
{
    advance(1s);
    send(a_master);

    // Another server, started before that.
    const auto found = group.servers->meet(0, {"b", {}, 10s}, time->now().steady);
    BOOST_TEST((found == core::incarnations::finding::overlaps));
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

BOOST_AUTO_TEST_CASE(a_server_that_answers_as_no_master_does_is_refused_when_its_batch_is_answered)
{
    for (const auto& [error, why] :
         {std::pair("READONLY You can't write against a read only replica.", reason::replica),
          std::pair("MASTERDOWN Link with MASTER is down", reason::replica),
          std::pair("LOADING Redis is loading the dataset in memory", reason::rejected),
          std::pair("ERR Error running script: @user_script:5: -READONLY no", reason::replica)})
    {
        BOOST_TEST_CONTEXT(error)
        {
            ready_link fresh;
            const auto asked = fresh.ask(verb::acquire, "a");
            const auto other = fresh.ask(verb::acquire, "b");
            fresh.settle();
            fresh.send(std::string("-") + error + "\r\n");
            BOOST_TEST(fresh.ended.empty());
            fresh.send("+OK\r\n");

            BOOST_TEST((asked->vote == vote::refused));
            BOOST_TEST((other->vote == vote::granted));
            BOOST_TEST(fresh.end().refused.why == why);
            BOOST_TEST(fresh.end().refused.text == error);
        }
    }
}

BOOST_AUTO_TEST_CASE(errors_are_told_when_they_begin_and_when_they_end)
{
    const auto answer = [this](const std::string& with) {
        ask(verb::acquire, "a");
        settle();
        send(with);
    };
    answer("+OK\r\n");
    BOOST_TEST(refused.empty());
    for (int i = 0; i < 3; ++i)
    {
        answer("-OOM no\tmemory\r\n");
        answer("+OK\r\n");
    }
    BOOST_TEST(refused == std::vector<std::string>{"OOM no memory"});

    for (int i = 0; i < 5; ++i)
    {
        advance(1s);
        send(a_master);
    }
    BOOST_TEST(refused.size() == 1u);
    answer("_\r\n");
    BOOST_TEST_REQUIRE(refused.size() == 2u);
    BOOST_TEST(refused.back().empty());
}

BOOST_AUTO_TEST_CASE(a_script_that_was_flushed_is_no_refusal)
{
    ask(verb::release, "b");
    settle();
    send("-NOSCRIPT No matching script.\r\n");
    send(":1\r\n");
    BOOST_TEST(refused.empty());
}

BOOST_AUTO_TEST_CASE(other_errors_leave_the_connection_as_it_is)
{
    for (const char* error :
         {"-OOM no", "-MISCONF no", "-NOREPLICAS no", "-NOPERM no", "-ERR READONLY", "-BUSY no"})
    {
        ask(verb::acquire, "a");
        settle();
        send(std::string(error) + "\r\n");
    }

    BOOST_TEST(ended.empty());
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
    for (std::size_t batch = 0; batch < detail::pipeline::max_written; ++batch)
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
    BOOST_TEST(link->unanswered() == detail::pipeline::max_written + 1);
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
    struct probe final : detail::deferred
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

BOOST_AUTO_TEST_CASE(thousands_of_questions_fail_in_several_turns)
{
    std::vector<question_of_test_ptr> asked;
    for (std::size_t i = 0; i < 10 * detail::pipeline::max_batch; ++i)
        asked.push_back(ask(verb::acquire, "a"));
    wire->end(asio::error::connection_reset);
    BOOST_TEST(link->unanswered() > asked.size() / 3);

    settle();
    for (const auto& each : asked)
        BOOST_TEST_REQUIRE(each->answers == 1u);
    BOOST_TEST(link->unanswered() == 0u);
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

BOOST_AUTO_TEST_CASE(votes_are_asked_of_the_server_that_was_admitted)
{
    link->ask(make_question(verb::acquire, "a", 1500ms, 7));
    link->ask(make_question(verb::extend, "b", 1500ms, 8));
    link->ask(make_question(verb::release, "c", 1500ms, 9));
    settle();

    // The end of the marker follows the key of a question that needs a vote, then the ttl.
    const detail::guard& by = *group.guarded;
    const std::string end = blob(by.end_of(by.fingerprint + "a"));
    BOOST_TEST(contains(wire->written, blob("b") + end + blob("1500") + blob("0")));
    BOOST_TEST(contains(wire->written, blob("a") + end + blob("1500") + blob("-")));
    BOOST_TEST(contains(wire->written, blob("1") + blob("c") + blob("-") + blob(id_of('c'))));
}

BOOST_AUTO_TEST_CASE(an_idle_node_is_asked_for_its_marker)
{
    const std::string own = group.guarded->fingerprint + "a";
    for (const std::string& marker : {own, own + " durable"})
    {
        advance(1s);
        BOOST_TEST(wire->take() == "*2\r\n" + blob("GET") + blob("redlock:marker"));
        send(blob(marker));
    }
    BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(an_idle_node_without_its_own_marker_is_vetted_again)
{
    for (const std::string& reply :
         {std::string("_\r\n"),
          blob(""),
          blob(group.guarded->fingerprint + "b"),
          blob(group.guarded->fingerprint + "b durable"),
          blob(group.guarded->fingerprint + "a durables")})
    {
        BOOST_TEST_CONTEXT(reply)
        {
            ready_guarded_link fresh;
            fresh.advance(1s);
            fresh.send(reply);

            BOOST_TEST(fresh.end().refused.why == reason::unmarked);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_idle_node_that_does_not_show_its_marker_is_alive)
{
    for (int probe = 0; probe < 3; ++probe)
    {
        advance(1s);
        send("-NOPERM no\r\n");
    }
    BOOST_TEST(ended.empty());
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

}  // namespace redis_link_tests
