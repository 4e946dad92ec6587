// What rooms cost in which nobody says anything, examples/chat_room/README.md.

#include <boost/test/unit_test.hpp>

#include <charconv>
#include <chrono>
#include <string>

#include "chat/fixture.hpp"
#include "support/client_runner.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_silent_rooms,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// How often a command was called, 0 if it never was.
long calls(const redis_server& server, const std::string& command)
{
    const std::string told = server.command({"INFO", "commandstats"});
    const std::string name = "cmdstat_" + command + ":calls=";
    const std::size_t at = told.find(name);
    long count = 0;
    if (at != std::string::npos)
        std::from_chars(told.data() + at + name.size(), told.data() + told.size(), count);
    return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_node_has_little_to_do_for_rooms_in_which_nobody_talks)
{
    constexpr int rooms = 120;
    constexpr auto measured = 2s;
    chat_fixture f({.servers = 3});
    for (int room = 0; room < rooms; ++room)
    {
        for (std::size_t server = 0; server < 3; ++server)
            f.add("Ada", server, "room-" + std::to_string(room));
    }
    BOOST_TEST(run_until(f.context, [&] {
        return f.on[0].measure("chat_coordinated_rooms") +
                   f.on[1].measure("chat_coordinated_rooms") +
                   f.on[2].measure("chat_coordinated_rooms") ==
               rooms;
    }));

    const auto start = deadline_clock::now();
    f.on.nodes[0].command({"CONFIG", "RESETSTAT"});
    BOOST_TEST(run_until(f.context, [&] { return deadline_clock::now() >= start + measured; }));
    const long rate = calls(f.on.nodes[0], "evalsha") / (measured / 1s);

    BOOST_TEST_MESSAGE(rate << " scripts a second for " << rooms << " rooms");
    BOOST_TEST(rate > 0);
    BOOST_TEST(rate < 15 * rooms);  // One extension, and what those who wait ask again.
}

BOOST_AUTO_TEST_SUITE_END()
