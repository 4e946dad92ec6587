// Members, servers and a store without faults, examples/chat_room/README.md.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "chat/fixture.hpp"
#include "chat/visitor.hpp"
#include "support/client_runner.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_room,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

BOOST_AUTO_TEST_CASE(members_on_two_servers_see_the_same_order_without_gaps)
{
    chat_fixture f({.servers = 2});
    auto& ada = f.add("Ada", 0);
    auto& bob = f.add("Bob", 1);

    for (int number = 0; number < 50; ++number)
    {
        ada.say("from Ada " + std::to_string(number));
        bob.say("from Bob " + std::to_string(number));
    }

    BOOST_TEST(f.all_heard());
    check_histories(f.members, 100);
}

BOOST_AUTO_TEST_CASE(who_joins_later_gets_the_history_first)
{
    chat_fixture f({.servers = 2});
    auto& ada = f.add("Ada", 0);
    for (int number = 0; number < 350; ++number)  // More than a server remembers by itself.
        ada.say(std::to_string(number));
    BOOST_TEST(f.all_heard());

    f.add("Bob", 1);
    ada.say("one more");

    BOOST_TEST(f.all_heard());
    check_histories(f.members, 351);
}

BOOST_AUTO_TEST_CASE(who_joins_gets_as_many_of_the_last_messages_as_it_asks_for)
{
    chat_fixture f({.servers = 1});
    auto& ada = f.add("Ada", 0);
    for (int number = 0; number < 60; ++number)
        ada.say(std::to_string(number));
    BOOST_TEST(f.all_heard());
    struct wish
    {
        std::string words;
        std::int64_t first;  ///< Sequence number of the message that it gets first.
    };
    const std::vector<wish> table{
        {"", 1},
        {R"("tail":10000)", 1},
        {R"("tail":45)", 16},
        {R"("tail":1)", 60},
        {R"("tail":0)", 61},
        {R"("after":50)", 51},
        {R"("after":50,"began":1)", 1},  // Of another log.
        {R"("after":70)", 1},
        {R"("after":50,"tail":5)", 56},
        {R"("after":58,"tail":5)", 59},
        {R"("after":60,"tail":5)", 61},
    };

    std::deque<visitor> visitors;
    for (const wish& each : table)
        BOOST_TEST(visitors.emplace_back(f, 0).join(each.words).at("last").as_int64() == 60);
    ada.say("one more");

    for (std::size_t index = 0; index < table.size(); ++index)
    {
        BOOST_TEST_CONTEXT(table[index].words)
        {
            for (std::int64_t seq = table[index].first; seq <= 61; ++seq)
                BOOST_TEST_REQUIRE(visitors[index].next("message").at("seq").as_int64() == seq);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_asks_for_older_messages_gets_a_page_of_them)
{
    chat_fixture f({.servers = 1});
    auto& ada = f.add("Ada", 0);
    for (int number = 0; number < 60; ++number)
        ada.say(std::to_string(number));
    BOOST_TEST(f.all_heard());
    struct wish
    {
        std::int64_t before;
        std::int64_t first;
        std::size_t count;
    };
    visitor who(f, 0);
    who.join(R"("tail":0)");

    const std::vector<wish> table{{61, 41, 20}, {41, 21, 20}, {6, 1, 5}, {1, 0, 0}, {0, 0, 0}};
    for (const wish& each : table)
    {
        BOOST_TEST_CONTEXT(each.before)
        {
            who.send(R"({"type":"older","before":)" + std::to_string(each.before) + "}");
            const auto told = who.next("older");
            const auto& messages = told.at("messages").as_array();
            BOOST_TEST(told.at("before").as_int64() == each.before);
            BOOST_TEST_REQUIRE(messages.size() == each.count);
            for (std::size_t index = 0; index < each.count; ++index)
            {
                const auto seq = each.first + static_cast<std::int64_t>(index);
                BOOST_TEST(messages[index].at("seq").as_int64() == seq);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(members_are_told_where_the_other_servers_are)
{
    chat_fixture f({.servers = 3});
    for (const auto& each : f.on)
    {
        const std::string found = each.get("/");
        BOOST_TEST(!found.empty());
    }
    chat::connection link(f.context.get_executor());
    const auto ask = [&]() -> asio::awaitable<std::string> {
        co_await link.open(f.on[1].port());
        co_return co_await link.receive(5s);
    };

    const std::string hello = run(f.context, asio::co_spawn(f.context, ask(), asio::deferred));

    BOOST_TEST(
        hello.find(R"("peers":[")" + f.on[0].url() + R"(",")" + f.on[2].url() + R"("])") !=
        std::string::npos
    );
}

BOOST_AUTO_TEST_CASE(what_is_said_twice_appears_once)
{
    chat_fixture f({.servers = 2});
    auto& ada = f.add("Ada", 0);
    chat::connection first(f.context.get_executor());
    chat::connection second(f.context.get_executor());
    const auto say = [&](chat::connection& to, std::uint16_t port) -> asio::awaitable<void> {
        co_await to.open(port);
        co_await to.send(R"({"type":"join","room":"lobby","name":"Bob"})");
        co_await to.send(R"({"type":"say","id":"same","text":"hello"})");
    };

    run(f.context, asio::co_spawn(f.context, say(first, f.on[0].port()), asio::deferred));
    run(f.context, asio::co_spawn(f.context, say(second, f.on[1].port()), asio::deferred));
    BOOST_TEST(run_until(f.context, [&ada] { return ada.all().size() == 1; }));
    ada.say("that was once");

    BOOST_TEST(f.all_heard());
    check_histories(f.members, 2);
}

BOOST_AUTO_TEST_CASE(rooms_do_not_hear_each_other)
{
    chat_fixture f({.servers = 2});
    auto& here = f.add("Ada", 0, "here");
    auto& there = f.add("Bob", 0, "there");

    here.say("here");
    there.say("there");

    BOOST_TEST(f.all_heard());
    BOOST_TEST(here.all().at(0).text == "here");
    BOOST_TEST(there.all().at(0).text == "there");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_told_to_end_hands_over_at_once_and_sends_members_away)
{
    chat_fixture f({.servers = 2, .ttl = 10s});
    auto& ada = f.add("Ada", 0);
    auto& bob = f.add("Bob", 1);
    ada.say("before");
    BOOST_TEST(f.all_heard());
    auto& first = f.coordinator_of(bob);
    const auto& stays = &first == &f.on[0] ? bob : ada;
    const auto& goes = &first == &f.on[0] ? ada : bob;
    const std::size_t before = stays.coordinators().size();

    first.ask_to_end();
    const auto taken = f.takeover(stays, before);

    BOOST_REQUIRE(taken.has_value());
    BOOST_TEST_MESSAGE("handed over in " << taken->count() << " ms");
    BOOST_TEST((*taken < 2s));
    BOOST_TEST(run_until(f.context, [&] { return first.has_ended(); }));
    BOOST_TEST(first.exit_status().value_or(-1) == 0);
    BOOST_TEST(goes.last_end().find("1001") != std::string::npos);
    ada.say("after");
    BOOST_TEST(f.all_heard());
    check_histories(f.members, 2);
}

BOOST_AUTO_TEST_SUITE_END()
