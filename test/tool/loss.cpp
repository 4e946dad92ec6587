// What becomes of a command whose lease ends before it.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_loss,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// Milliseconds of the clock of this machine, as `date +%s%3N` prints them.
std::int64_t now()
{
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// The time in the last whole line of a file.
std::int64_t last_sign(const std::filesystem::path& file)
{
    std::string text = read_file(file);
    text.resize(text.rfind('\n'));
    return std::stoll(text.substr(text.rfind('\n') + 1));
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_command_that_ignores_the_warning_is_dead_before_the_deadline, tool_nodes)
{
    const int rounds = std::getenv("REDLOCK_TEST_LONG") != nullptr ? 20 : 3;
    std::int64_t latest = 0;
    for (int round = 0; round < rounds; ++round)
    {
        // It writes the time, again and again, and cannot be persuaded.
        tool stubborn =
            run("trap '' TERM; echo pid $$; while :; do date +%s%3N >> " +
                    (folder.path() / "alive").string() + "; done",
                {"--ttl", "1s"});
        BOOST_TEST_REQUIRE(stubborn.says("pid "));
        const int child = number_behind("pid ", stubborn.output());
        nodes[1].pause();
        nodes[2].pause();
        const std::int64_t frozen = now();
        BOOST_TEST_REQUIRE(eventually([&] { return !is_alive(child); }));
        const std::int64_t died = now();
        // No extension was granted after the nodes stood still, so the deadline is not later.
        BOOST_TEST(died - frozen < 1000);
        latest = std::max(latest, died - frozen);
        nodes[1].resume();
        nodes[2].resume();
        BOOST_TEST(stubborn.ends_with(124));
        BOOST_TEST(stubborn.has_said("redlock: orders:42: the lease was not extended"));
        tool next = run("date +%s%3N");
        BOOST_TEST(next.ends_with(0));
        BOOST_TEST(std::stoll(next.output()) >= last_sign(folder.path() / "alive"));
    }
    BOOST_TEST_MESSAGE(
        rounds << " losses: dead " << latest << " ms after the freeze at most, ttl 1000 ms"
    );
}

BOOST_FIXTURE_TEST_CASE(a_command_is_warned_before_the_deadline, tool_nodes)
{
    tool obeys =
        run("trap 'echo stops; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
            {"--ttl", "1500ms", "--stop-before", "500ms"});
    BOOST_TEST_REQUIRE(obeys.says("ready"));
    nodes[1].pause();
    nodes[2].pause();
    BOOST_TEST(obeys.says("stops"));
    nodes[1].resume();
    nodes[2].resume();
    BOOST_TEST(obeys.ends_with(124));
}

BOOST_FIXTURE_TEST_CASE(a_short_outage_does_not_disturb_the_command, tool_nodes)
{
    tool works = run("echo ready; sleep 1.5; echo done", {"--ttl", "2s"});
    BOOST_TEST_REQUIRE(works.says("ready"));
    nodes[1].pause();
    nodes[2].pause();
    std::this_thread::sleep_for(400ms);  // The outage itself.
    nodes[1].resume();
    nodes[2].resume();
    BOOST_TEST(works.ends_with(0));
    BOOST_TEST(works.has_said("done"));
}

BOOST_FIXTURE_TEST_CASE(a_command_whose_lease_is_revoked_is_stopped, tool_nodes)
{
    tool holder = run("echo ready; exec sleep 60");
    BOOST_TEST_REQUIRE(holder.says("ready"));
    tool revoked = start({"revoke", "orders:42"});
    BOOST_TEST(revoked.ends_with(0));
    BOOST_TEST(revoked.has_said("orders:42: its holder stops within "));
    BOOST_TEST(holder.ends_with(124));
    BOOST_TEST(holder.has_said("this holder was asked to stop"));
    tool again = start({"revoke", "orders:42"});
    BOOST_TEST(again.ends_with(1));
    BOOST_TEST(again.has_said("orders:42 is free"));
}

BOOST_FIXTURE_TEST_CASE(a_wrapper_that_stood_still_kills_the_command_when_it_goes_on, tool_nodes)
{
    tool frozen = run("echo pid $$; exec sleep 60", {"--ttl", "1s"});
    BOOST_TEST_REQUIRE(frozen.says("pid "));
    const int child = number_behind("pid ", frozen.output());
    frozen.process().pause();
    tool next = run("echo runs");
    BOOST_TEST(next.ends_with(0));
    BOOST_TEST(is_alive(child));  // There was no process to end it: fence what it does.
    frozen.process().resume();
    BOOST_TEST(eventually([&] { return !is_alive(child); }));
    BOOST_TEST(frozen.ends_with(124));
}

BOOST_AUTO_TEST_SUITE_END()
