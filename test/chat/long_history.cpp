// A room with a long history, and those who talk in another one, examples/chat_room/README.md.

#include "chat_room/client/catch_up.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include "chat/fixture.hpp"
#include "support/client_runner.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_long_history,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::size_t messages = 600;
constexpr std::size_t joiners = 100;

/// The longest text in bytes that a room takes.
std::string longest_text()
{
    std::string text;
    for (int count = 0; count < 2000; ++count)
        text += "\U0001F600";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_reads_a_long_history_does_not_disturb_other_rooms)
{
    chat_fixture f({.servers = 1, .more = {"--rate", "10000", "--burst", "10000"}});
    auto& writer = f.add("Writer", 0, "long");
    for (std::size_t count = 0; count < messages; ++count)
        writer.say(longest_text());
    BOOST_REQUIRE(f.all_heard(60s));
    auto& ada = f.add("Ada", 0, "elsewhere");
    BOOST_TEST(f.coordinator_of(ada).name() == "s1");
    bool told_down = false;
    ada.on_status = [&](const std::string& status) {
        told_down |= status.find(R"("store":"down")") != std::string::npos;
    };

    std::size_t caught_up = 0;
    std::size_t heard = 0;
    const auto done = [&](const std::exception_ptr& failure, std::size_t count) {
        BOOST_TEST(!failure);
        ++caught_up;
        heard += count;
    };
    for (std::size_t count = 0; count < joiners; ++count)
        asio::co_spawn(f.context, chat::catch_up(f.on[0].port(), "long", messages), done);
    std::chrono::steady_clock::duration longest{};
    while (caught_up < joiners)
    {
        const auto said = std::chrono::steady_clock::now();
        ada.say("elsewhere");
        BOOST_REQUIRE(run_until(f.context, [&] { return ada.unheard() == 0; }, 60s));
        longest = std::max(longest, std::chrono::steady_clock::now() - said);
    }

    BOOST_TEST_MESSAGE("the longest delay elsewhere was " << longest / 1ms << " ms");
    BOOST_TEST(heard == joiners * messages);
    BOOST_TEST(!told_down);
    BOOST_TEST(ada.reconnections() == 0u);
    BOOST_TEST(ada.coordinators().size() == 1u);
    BOOST_TEST(writer.coordinators().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
