// What people see of `redlock` in small: names, times, hints, full disks, statuses.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_details,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// `redlock` with its output on a full disk. What it says of that is in the output.
struct full_disk : tool_nodes
{
    [[nodiscard]] child_process start_on_full_disk(const std::string& command) const
    {
        return child_process(
            {.program = "/bin/sh",
             .arguments = {"sh", "-c", REDLOCK_TOOL " " + command + " >/dev/full"},
             .environment = {"REDLOCK_NODES=" + list_of(nodes)},
             .output = folder.path() / "output"}
        );
    }

    [[nodiscard]] bool ends_as_it_should(const std::string& command) const
    {
        child_process runs = start_on_full_disk(command);
        const bool ended = eventually([&] { return runs.has_ended(); }, patience);
        const std::string said = read_file(folder.path() / "output");
        BOOST_TEST_INFO(command << " printed: " << said);
        return ended && runs.exit_status() == 125 &&
               said.find("cannot write the output") != std::string::npos;
    }
};

/// The first column of the table of exit statuses in the docs.
std::vector<std::string> documented_statuses()
{
    const std::string text = read_file(REDLOCK_COMMAND_LINE_PAGE);
    std::vector<std::string> found;
    std::size_t at = text.find("| Exit status | Meaning |");
    for (at = text.find('\n', text.find('\n', at) + 1) + 1; text.compare(at, 2, "| ") == 0;
         at = text.find('\n', at) + 1)
        found.push_back(text.substr(at + 2, text.find(" | ", at) - at - 2));
    return found;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(control_characters_of_a_name_are_not_printed, tool_nodes)
{
    tool fields = start({"show", "a\033[31m\té"});
    BOOST_TEST(fields.ends_with(0));
    BOOST_TEST(fields.has_said("a [31m é\tfree\t"));
    tool json = start({"show", "a\033é", "--json"});
    BOOST_TEST(json.ends_with(0));
    BOOST_TEST(json.has_said("{\"resource\":\"a\\u001bé\""));
    tool held = start({"run", "a\033[31m", "--", "sh", "-c", "kill -TERM $PPID; sleep 60"});
    BOOST_TEST(held.ends_with(128 + SIGTERM));
    tool none = start({"revoke", "a\033[31m"});
    BOOST_TEST(none.ends_with(1));
    BOOST_TEST(none.has_said("a [31m is free"));
}

BOOST_FIXTURE_TEST_CASE(output_to_a_full_disk_is_an_error, full_disk)
{
    for (const char* command : {"show r", "show r --json", "watch r", "watch r --json", "doctor"})
        BOOST_TEST(ends_as_it_should(command), command);
}

BOOST_FIXTURE_TEST_CASE(times_have_days_and_combinations, tool_nodes)
{
    for (const char* time : {"1d", "1m30s", "1h30m", "1s500ms", "2", "0.5m"})
        BOOST_TEST(run("true", {"--wait", time}).ends_with(0), time);
    for (const char* time : {"", "1s1m", "1s1s", "5 s", "1d5", "s", "-1s", "1e400s", "1w"})
    {
        tool refused = run("true", {"--wait", time});
        BOOST_TEST(refused.ends_with(125), time);
        BOOST_TEST(refused.has_said("is not a time; write 250ms, 10s, 5min, 1h30m or 2d"), time);
    }
}

BOOST_FIXTURE_TEST_CASE(a_command_without_dashes_gets_a_hint, tool_nodes)
{
    for (const char* command : {"run", "lead", "local"})
    {
        const std::string first = command == std::string("local") ? "1" : "r";
        tool refused = start({command, first, "echo", "hi"});
        BOOST_TEST(refused.ends_with(125));
        BOOST_TEST(refused.has_said("Write the command to run after --"), command);
    }
    tool odd = start({"show", "r", "--no-such-option"});
    BOOST_TEST(odd.ends_with(125));
    BOOST_TEST(!odd.has_said("after --,"));
}

BOOST_FIXTURE_TEST_CASE(a_resource_that_is_only_kept_is_not_called_held, tool_nodes)
{
    BOOST_TEST(run("true", {"--at-least", "2min"}).ends_with(0));
    tool refused = run("true", {"-n"});
    BOOST_TEST(refused.ends_with(75));
    BOOST_TEST(refused.has_said("its last holder keeps it for 1 min 5"));
    BOOST_TEST(!refused.has_said("another owner"));
    BOOST_TEST(run("true", {"-n", "-E", "0"}).output().empty());
}

BOOST_FIXTURE_TEST_CASE(a_resource_is_kept_after_a_failure_unless_it_is_to_be_free_then, tool_nodes)
{
    const std::vector<std::string> night{"-n", "--at-least", "1h"};
    const std::vector<std::string> again{"-n", "--at-least", "1h", "--free-on-failure"};
    BOOST_TEST(run("exit 3", again).ends_with(3));
    BOOST_TEST(run("kill -9 $$", again).ends_with(128 + SIGKILL));
    BOOST_TEST(run("exit 0", again).ends_with(0));
    BOOST_TEST(run("exit 0", again).ends_with(75));
    BOOST_TEST(start({"free", "orders:42"}).ends_with(0));
    BOOST_TEST(run("exit 3", night).ends_with(3));
    BOOST_TEST(run("exit 0", night).ends_with(75));
}

BOOST_FIXTURE_TEST_CASE(who_revokes_learns_that_the_resource_may_be_kept, tool_nodes)
{
    tool holder = run("echo runs; sleep 60", {"--at-least", "1min"});
    BOOST_TEST_REQUIRE(holder.says("runs"));
    tool revoked = start({"revoke", "orders:42"});
    BOOST_TEST(revoked.ends_with(0));
    BOOST_TEST(revoked.has_said("orders:42: its holder stops within "));
    BOOST_TEST(revoked.has_said("then it is free, unless it is kept by --at-least"));
}

BOOST_AUTO_TEST_CASE(local_servers_have_the_ports_that_are_asked_for)
{
    tool some({"local", "1"});
    BOOST_TEST_REQUIRE(some.says("export REDLOCK_NODES=redis://127.0.0.1:"));
    const std::string port = std::to_string(number_behind("redis://127.0.0.1:", some.output()));
    tool taken({"local", "1", "--port", port});
    BOOST_TEST(taken.ends_with(125));
    BOOST_TEST(taken.has_said("redlock: port " + port + ": Address already in use"));
    some.signal(SIGTERM);
    BOOST_TEST(some.ends_with(0));
    tool same({"local", "1", "--port", port});
    BOOST_TEST(same.says("redis://127.0.0.1:" + port + "\n"));
    tool too_high({"local", "3", "--port", "65534"});
    BOOST_TEST(too_high.ends_with(125));
    BOOST_TEST(too_high.has_said("--port is 65534, too high for 3 servers"));
}

BOOST_AUTO_TEST_CASE(a_local_server_whose_port_is_taken_meanwhile_gets_another_one)
{
    const temp_folder place;
    const auto script = place.path() / "server";
    write_file(
        script,
        "#!/bin/sh\nmkdir " + (place.path() / "first").string() +
            " 2>/dev/null && echo 'Failed listening on port' && exit 1\nexec redis-server \"$@\"\n"
    );
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    tool local({"local", "2", "--server", script.string(), "--", "true"});
    BOOST_TEST(local.ends_with(0));
}

BOOST_FIXTURE_TEST_CASE(the_exit_statuses_are_those_of_the_docs, tool_nodes)
{
    const std::vector<std::pair<std::string, std::function<void()>>> all{
        {"that of the command, or 128 plus the signal that ended it",
         [&] {
             BOOST_TEST(run("exit 7").ends_with(7));
             BOOST_TEST(run("kill -9 $$").ends_with(128 + SIGKILL));
         }},
        {"75, or `-E`",
         [&] {
             tool holder = run("echo runs; sleep 60");
             BOOST_TEST_REQUIRE(holder.says("runs"));
             BOOST_TEST(run("true", {"-n"}).ends_with(75));
             BOOST_TEST(run("true", {"-n", "-E", "9"}).ends_with(9));
         }},
        {"124",
         [&] {
             tool holder = run("echo runs; sleep 60", {"--ttl", "2s"});
             BOOST_TEST_REQUIRE(holder.says("runs"));
             BOOST_TEST(start({"revoke", "orders:42"}).ends_with(0));
             BOOST_TEST(holder.ends_with(124));
         }},
        {"125",
         [&] {
             BOOST_TEST(run("true", {"--ttl", "never"}).ends_with(125));
             tool unreachable({"run", "r", "-n", "--nodes", "redis://127.0.0.1:1", "--", "true"});
             BOOST_TEST(unreachable.ends_with(125));
         }},
        {"126, 127",
         [&] {
             BOOST_TEST(start({"run", "r", "--", "/tmp"}).ends_with(126));
             BOOST_TEST(start({"run", "r", "--", "no-such-program"}).ends_with(127));
         }},
        {"128 plus a signal",
         [&] {
             tool holder = run("echo runs; sleep 60");
             BOOST_TEST_REQUIRE(holder.says("runs"));
             tool waits = run("true");
             BOOST_TEST(eventually(
                 [&] {
                     tool seen = start({"show", "orders:42", "--json"});
                     return seen.ends_with(0) && seen.has_said("\"waiting\":1");
                 },
                 patience
             ));
             waits.signal(SIGTERM);
             BOOST_TEST(waits.ends_with(128 + SIGTERM));
         }},
    };
    std::vector<std::string> tested;
    for (const auto& [status, look] : all)
    {
        BOOST_TEST_CONTEXT(status)
        look();
        tested.push_back(status);
    }
    BOOST_TEST(tested == documented_statuses(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
