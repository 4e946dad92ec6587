// Coordinators that die, pause and are cut off, and a store that goes away, see
// examples/chat_room/README.md.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>

#include "chat/fixture.hpp"
#include "support/client_runner.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_faults,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds ttl = 2s;
constexpr std::chrono::milliseconds longest_takeover = ttl + 1s;

/// From the start of a store that was emptied until its members are back.
constexpr std::chrono::milliseconds longest_return = 3s;

/// Says things all the time, until it is destroyed.
class chatter
{
public:
    explicit chatter(chat_fixture& f) : f_(f) {}

    /// Everybody says something now and then, until the condition is true.
    template <class F>
    [[nodiscard]] bool until(F condition, std::chrono::milliseconds limit = 20s)
    {
        auto next = deadline_clock::now();
        return run_until(
            f_.context,
            [&] {
                if (deadline_clock::now() >= next)
                {
                    next += 20ms;
                    for (auto& each : f_.members)
                        each.say("number " + std::to_string(++said));
                }
                return condition();
            },
            limit
        );
    }

    std::size_t said = 0;

private:
    chat_fixture& f_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_killed_coordinator_is_replaced_and_nothing_is_lost_or_doubled)
{
    chat_fixture f({.ttl = ttl});
    auto& ada = f.add("Ada", 0);
    f.add("Bob", 1);
    f.add("Cleo", 2);
    chatter talk(f);
    const chat::scripted_member* informed = &ada;  // Of the coordinator; others may hear it later.

    for (int round = 0; round < 3; ++round)
    {
        auto& first = f.coordinator_of(*informed);
        BOOST_TEST(talk.until([&, most = talk.said + 60] { return talk.said >= most; }));
        const auto& watcher = f.members[&first == &f.on[0] ? 1 : 0];
        const std::size_t before = watcher.coordinators().size();
        const auto killed = deadline_clock::now();
        first.kill();

        BOOST_REQUIRE(talk.until([&] { return watcher.coordinators().size() > before; }));
        const auto taken = watcher.coordinators()[before].at - killed;
        BOOST_TEST_MESSAGE("taken over in " << taken / 1ms << " ms");
        BOOST_TEST((taken <= longest_takeover));
        BOOST_TEST(watcher.coordinators()[before].server != first.name());
        informed = &watcher;

        f.on.start(first);
        BOOST_TEST(chat::becomes_healthy(first));
    }

    BOOST_TEST(f.all_heard());
    check_histories(f.members, talk.said);
    BOOST_TEST(f.refused() == 0);
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_stands_still_is_replaced_and_nothing_is_lost_or_doubled)
{
    chat_fixture f({.ttl = ttl});
    auto& ada = f.add("Ada", 0);
    f.add("Bob", 1);
    chatter talk(f);
    auto& first = f.coordinator_of(ada);
    const auto& watcher = f.members[&first == &f.on[0] ? 1 : 0];
    const std::size_t before = watcher.coordinators().size();

    const auto paused = deadline_clock::now();
    first.pause();
    BOOST_REQUIRE(talk.until([&] { return watcher.coordinators().size() > before; }));
    const auto taken = watcher.coordinators()[before].at - paused;
    BOOST_TEST(talk.until([&] { return deadline_clock::now() >= paused + 3 * ttl; }));
    first.resume();

    BOOST_TEST_MESSAGE("taken over in " << taken / 1ms << " ms");
    BOOST_TEST((taken <= longest_takeover));
    BOOST_TEST(f.all_heard());
    check_histories(f.members, talk.said);
    BOOST_TEST_MESSAGE("stale writes refused: " << f.refused());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_is_cut_off_from_the_nodes_is_replaced)
{
    chat_fixture f({.ttl = ttl});
    std::deque<tcp_proxy> proxies;
    std::string urls;
    for (const redis_server& node : f.on.nodes)
    {
        proxies.emplace_back(node.port());
        urls += (urls.empty() ? "" : ",") + proxies.back().url();
    }
    for (auto& each : f.on)  // The first one alone for a start, so that it is the coordinator.
        each.kill();
    f.on.use_nodes(f.on[0], urls);
    f.on.start(f.on[0]);
    BOOST_TEST(chat::becomes_healthy(f.on[0]));
    auto& ada = f.add("Ada", 0);
    BOOST_TEST(f.coordinator_of(ada).name() == "s1");
    f.on.start(f.on[1]);
    BOOST_TEST(chat::becomes_healthy(f.on[1]));
    auto& bob = f.add("Bob", 1);
    chatter talk(f);
    const std::size_t before = bob.coordinators().size();

    const auto cut = deadline_clock::now();
    for (tcp_proxy& each : proxies)
        each.blackhole();

    BOOST_REQUIRE(talk.until([&] { return bob.coordinators().size() > before; }));
    const auto taken = bob.coordinators()[before].at - cut;
    BOOST_TEST_MESSAGE("taken over in " << taken / 1ms << " ms");
    BOOST_TEST((taken <= longest_takeover));
    BOOST_TEST(f.all_heard());
    check_histories(f.members, talk.said);
    BOOST_TEST(ada.reconnections() == 0u);  // Members notice nothing else.
}

BOOST_AUTO_TEST_CASE(an_append_that_comes_after_a_takeover_is_refused_and_counted)
{
    chat_fixture f({.servers = 2, .ttl = ttl});
    auto& ada = f.add("Ada", 0);
    auto& bob = f.add("Bob", 1);
    auto& first = f.coordinator_of(ada);
    auto& other = &first == &f.on[0] ? bob : ada;
    other.say("before");
    BOOST_TEST(f.all_heard());

    std::ofstream(first.stall_file()) << "stall";
    other.say("appended by the successor");
    BOOST_TEST(run_until(f.context, [&] { return first.is_stopped(); }));
    BOOST_TEST(run_until(f.context, [&] { return other.unheard() == 0; }));
    BOOST_TEST(f.refused() == 0);
    first.resume();

    BOOST_TEST(eventually([&] { return f.refused() == 1; }));
    BOOST_TEST(eventually([&] { return first.measure("chat_stale_writes_refused_total") == 1; }));
    other.say("after");
    BOOST_TEST(f.all_heard());
    check_histories(f.members, 3);
    BOOST_TEST(f.refused() == 1);
}

BOOST_AUTO_TEST_CASE(a_store_that_is_away_is_told_of_and_nothing_is_lost_when_it_is_back)
{
    chat_fixture f({.servers = 2, .ttl = ttl});
    auto& ada = f.add("Ada", 0);
    f.add("Bob", 1);
    chatter talk(f);
    BOOST_TEST(talk.until([&] { return talk.said >= 20; }));
    BOOST_TEST(f.all_heard());

    f.on.store.kill();
    BOOST_TEST(run_until(f.context, [&] {
        return ada.status().find(R"("store":"down")") != std::string::npos;
    }));
    BOOST_TEST(f.on[0].get("/healthz") == "");
    BOOST_TEST(talk.until([&] { return talk.said >= 40; }));
    f.on.store.start();

    BOOST_TEST(f.all_heard());
    check_histories(f.members, talk.said);
    BOOST_TEST(ada.reconnections() == 0u);
}

BOOST_AUTO_TEST_CASE(a_store_that_stands_still_is_told_of_and_nothing_is_lost_afterwards)
{
    chat_fixture f({.servers = 2, .ttl = ttl});
    auto& ada = f.add("Ada", 0);
    f.add("Bob", 1);
    chatter talk(f);

    f.on.store.pause();
    BOOST_TEST(talk.until([&] {
        return ada.status().find(R"("store":"down")") != std::string::npos;
    }));
    f.on.store.resume();

    BOOST_TEST(f.all_heard());
    check_histories(f.members, talk.said);
}

BOOST_AUTO_TEST_CASE(after_the_store_came_back_empty_everybody_has_joined_again_once_and_is_heard)
{
    chat_fixture f({.servers = 2, .ttl = ttl});
    auto& ada = f.add("Ada", 0);
    auto& bob = f.add("Bob", 1);
    chatter talk(f);
    BOOST_TEST(talk.until([&] { return talk.said >= 20; }));
    BOOST_TEST(f.all_heard());

    f.on.store.kill();
    f.on.store.erase_data();
    f.on.store.start();
    const auto started = deadline_clock::now();
    const auto is_back = [](const chat::scripted_member& who) {
        return who.reconnections() > 0 && who.is_joined();
    };
    BOOST_TEST(run_until(f.context, [&] { return is_back(ada) && is_back(bob); }, longest_return));
    BOOST_TEST_MESSAGE("back in " << (deadline_clock::now() - started) / 1ms << " ms");
    ada.say("anew");
    bob.say("anew");

    BOOST_TEST(run_until(f.context, [&] { return ada.all().size() + bob.all().size() == 4; }));
    BOOST_TEST_MESSAGE("heard in " << (deadline_clock::now() - started) / 1ms << " ms");
    check_histories(f.members, 2);
    for (const auto& each : f.members)
    {
        BOOST_TEST(each.reconnections() == 1u);
        BOOST_TEST(each.last_end().find("1012") != std::string::npos);
        BOOST_TEST(!each.coordinators().empty());
    }
}

BOOST_AUTO_TEST_CASE(an_emptied_store_is_noticed_although_its_numbers_have_caught_up)
{
    chat_fixture f({.servers = 1, .ttl = ttl});
    auto& ada = f.add("Ada", 0);
    ada.say("before");
    BOOST_TEST(f.all_heard());

    f.on[0].pause();
    f.on.store.kill();
    f.on.store.erase_data();
    f.on.store.start();
    for (const std::string seq : {"1", "2", "3"})
    {
        f.on.store.command(
            {"XADD",
             "chat:{lobby}:log",
             seq + "-0",
             "id",
             seq,
             "name",
             "Bob",
             "text",
             "anew",
             "at",
             "1",
             "fence",
             "1"}
        );
    }
    f.on.store.command({"HSET", "chat:{lobby}", "seq", "3"});
    f.on[0].resume();

    BOOST_TEST(run_until(f.context, [&] {
        return ada.all().size() == 3 && ada.all().front().text == "anew";
    }));
    check_histories(f.members, 3);
}

BOOST_AUTO_TEST_CASE(a_node_that_sits_out_says_how_long_at_most)
{
    chat_fixture f({.servers = 1, .ttl = ttl});
    auto& ada = f.add("Ada", 0);

    f.on.nodes[0].kill();
    f.on.nodes[0].start();
    const auto left = [&ada]() -> std::int64_t {
        if (ada.status().empty())
            return 0;
        const auto told = boost::json::parse(ada.status());
        const auto& node = told.at("nodes").at(0);
        const bool sits_out = node.at("state").as_string() == "quarantined";
        return sits_out ? node.at("votes_in").to_number<std::int64_t>() : 0;
    };

    BOOST_TEST(run_until(f.context, [&] { return left() > 0; }));
    const std::int64_t first = left();
    BOOST_TEST(first > 20'000);
    BOOST_TEST(first < 31'000);
    BOOST_TEST(run_until(f.context, [&] { return left() < first - 500; }));
}

BOOST_AUTO_TEST_SUITE_END()
