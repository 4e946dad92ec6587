// `redlock run` and `redlock lead`, as a shell sees them.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_run,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_CASE(the_status_of_the_command_is_passed_on, tool_nodes)
{
    BOOST_TEST(run("exit 0").ends_with(0));
    BOOST_TEST(run("exit 3").ends_with(3));
    BOOST_TEST(run("kill -KILL $$").ends_with(128 + SIGKILL));
    BOOST_TEST(run("kill -TERM $$").ends_with(128 + SIGTERM));
}

BOOST_FIXTURE_TEST_CASE(a_command_that_cannot_be_run_ends_as_in_a_shell, tool_nodes)
{
    tool missing = start({"run", "orders:42", "--", "no-such-program"});
    BOOST_TEST(missing.ends_with(127));
    BOOST_TEST(missing.has_said("redlock: no-such-program: No such file or directory"));
    tool folder_run = start({"run", "orders:42", "--", "/tmp"});
    BOOST_TEST(folder_run.ends_with(126));
    BOOST_TEST(run("true", {"-n"}).ends_with(0));  // It was released.
}

BOOST_FIXTURE_TEST_CASE(the_command_knows_resource_and_token_and_not_the_nodes, tool_nodes)
{
    tool first = run("echo \"$REDLOCK_RESOURCE $REDLOCK_FENCE nodes:$REDLOCK_NODES.\"");
    BOOST_TEST(first.ends_with(0));
    BOOST_TEST(first.has_said("orders:42 1"));
    BOOST_TEST(first.has_said(" nodes:."));
}

BOOST_FIXTURE_TEST_CASE(no_shell_reads_the_command, tool_nodes)
{
    tool printed =
        start({"run", "orders:42", "--", "printf", "%s.", "a b", "$HOME", "--help", "--"});
    BOOST_TEST(printed.ends_with(0));
    BOOST_TEST(printed.output() == "a b.$HOME.--help.--.");
}

BOOST_FIXTURE_TEST_CASE(a_resource_of_another_gives_the_chosen_status, tool_nodes)
{
    tool holder = run("echo runs; sleep 60");
    BOOST_TEST_REQUIRE(holder.says("runs"));
    tool refused = run("echo no", {"-n"});
    BOOST_TEST(refused.ends_with(75));
    BOOST_TEST(refused.has_said("redlock: orders:42: another owner holds the resource"));
    BOOST_TEST(!refused.has_said("no\n"));
    BOOST_TEST(run("true", {"-n", "-E", "9"}).ends_with(9));
    BOOST_TEST(run("true", {"--wait", "300ms"}).ends_with(75));
}

BOOST_FIXTURE_TEST_CASE(a_wait_ends_with_the_holder, tool_nodes)
{
    tool holder = run("echo runs; sleep 0.5");
    BOOST_TEST_REQUIRE(holder.says("runs"));
    BOOST_TEST(run("true").ends_with(0));
}

BOOST_FIXTURE_TEST_CASE(mistakes_end_with_125_and_a_sentence, tool_nodes)
{
    const auto refuses = [](std::vector<std::string> arguments, const char* words) {
        tool refused(std::move(arguments), {"REDLOCK_NODES="});
        BOOST_TEST(refused.ends_with(125));
        BOOST_TEST(refused.has_said(words), refused.output());
    };
    refuses({"run", "r", "--", "true"}, "no nodes given. Set REDLOCK_NODES=redis://HOST:PORT");
    refuses({"run", "r"}, "give a command after --");
    refuses({"run", "--", "true"}, "resource is required");
    refuses({"run", "r", "--ttl", "soon", "--", "true"}, "'soon' is not a time; write 250ms, 10s");
    refuses({"run", "r", "-E", "256", "--", "true"}, "256");
    refuses({"show", "r", "--", "true"}, "'show' takes no command");
    refuses(
        {"run", "r", "--stop-before", "8s", "--nodes", "redis://a", "--", "true"},
        "--stop-before is 8000 ms, must be 100 to 6164 ms"
    );
    refuses({"dance"}, "unknown command 'dance'; the commands are run, lead, show");
    refuses({"show", "r", "--nodes", "redis://:secret@a"}, "--nodes has a password");
    refuses({"show", "r", "--nodes", "http://a"}, "redlock: entry 1 of the list of node URLs");
    refuses({"show", "r", "--nodes-file", "/nowhere"}, "cannot read the nodes file '/nowhere'");
    tool hidden({"show", "r", "--nodes", "redis://:secret@a"});
    BOOST_TEST(hidden.ends_with(125));
    BOOST_TEST(!hidden.has_said("secret"));
}

BOOST_FIXTURE_TEST_CASE(nodes_come_from_an_option_or_a_file_too, tool_nodes)
{
    tool by_option({"run", "r", "--nodes", list_of(nodes), "--", "true"});
    BOOST_TEST(by_option.ends_with(0));
    const auto file = folder.path() / "nodes";
    write_file(
        file, "# ours\n" + nodes.urls()[0] + "\n\n" + nodes.urls()[1] + "  # b\n" + nodes.urls()[2]
    );
    tool by_file({"run", "r", "--nodes-file", file, "--", "true"});
    BOOST_TEST(by_file.ends_with(0));
}

BOOST_FIXTURE_TEST_CASE(signals_are_forwarded, tool_nodes)
{
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2})
    {
        const std::string name = std::to_string(number);
        tool traps =
            run("trap 'echo got; exit 7' " + name + "; echo ready; while :; do sleep 0.05; done");
        BOOST_TEST_REQUIRE(traps.says("ready"));
        traps.signal(number);
        BOOST_TEST(traps.ends_with(7), name);
    }
}

BOOST_FIXTURE_TEST_CASE(a_signal_ends_the_wait_and_leaves_no_key, tool_nodes)
{
    tool holder = run("echo runs; sleep 60");
    BOOST_TEST_REQUIRE(holder.says("runs"));
    tool waits = run("echo no");
    BOOST_TEST(eventually([&] {
        tool seen = start({"show", "orders:42", "--json"});
        return seen.ends_with(0) && seen.has_said("\"waiting\":1");
    }));
    waits.signal(SIGTERM);
    BOOST_TEST(waits.ends_with(128 + SIGTERM));
    holder.signal(SIGTERM);
    BOOST_TEST(holder.ends_with(128 + SIGTERM));
    BOOST_TEST(run("true", {"-n"}).ends_with(0));
}

BOOST_FIXTURE_TEST_CASE(the_command_dies_with_a_wrapper_that_is_killed, tool_nodes)
{
    tool wrapper = run("echo pid $$; exec sleep 60");
    BOOST_TEST_REQUIRE(wrapper.says("pid "));
    const int child = number_behind("pid ", wrapper.output());
    wrapper.kill();
    BOOST_TEST(eventually([&] { return !is_alive(child); }));
}

BOOST_FIXTURE_TEST_CASE(what_is_left_of_its_group_ends_before_the_release, tool_nodes)
{
    tool leaves = run("sleep 60 & echo pid $!; setsid sleep 61 & echo far $!; sleep 0.3");
    BOOST_TEST(leaves.ends_with(0));
    BOOST_TEST(!is_alive(number_behind("pid ", leaves.output())));
    const int far = number_behind("far ", leaves.output());
    BOOST_TEST(is_alive(far));  // It has left the group.
    ::kill(far, SIGKILL);
}

BOOST_FIXTURE_TEST_CASE(at_least_keeps_the_resource_and_free_ends_that, tool_nodes)
{
    BOOST_TEST(run("true", {"--at-least", "1min"}).ends_with(0));
    BOOST_TEST(run("true", {"-n"}).ends_with(75));
    tool seen = start({"show", "orders:42"});
    BOOST_TEST(seen.ends_with(0));
    BOOST_TEST(seen.has_said("orders:42\tkept\t"));
    BOOST_TEST(start({"free", "orders:42"}).ends_with(0));
    BOOST_TEST(run("true", {"-n"}).ends_with(0));
    tool again = start({"free", "orders:42"});
    BOOST_TEST(again.ends_with(1));
    BOOST_TEST(again.has_said("was not kept"));
}

BOOST_FIXTURE_TEST_CASE(one_of_two_leads_and_the_other_follows, tool_nodes)
{
    const std::vector<std::string> leads{
        "lead",
        "shop",
        "--ttl",
        "1s",
        "--pause",
        "20ms",
        "--",
        "sh",
        "-c",
        "echo leads $REDLOCK_FENCE; exec sleep 60"
    };
    tool first = start(leads);
    BOOST_TEST_REQUIRE(first.says("leads "));
    tool second = start(leads);
    first.kill();
    BOOST_TEST(second.says("leads "));
    BOOST_TEST(second.output() > first.output());  // A greater token.
    second.signal(SIGTERM);
    BOOST_TEST(second.ends_with(128 + SIGTERM));
}

BOOST_FIXTURE_TEST_CASE(a_leader_stands_again_when_its_command_has_ended, tool_nodes)
{
    tool leads =
        start({"lead", "shop", "--pause", "10ms", "--", "sh", "-c", "echo term $REDLOCK_FENCE"});
    BOOST_TEST(eventually([&] {
        const std::string told = leads.output();
        return std::count(told.begin(), told.end(), '\n') >= 3;
    }));
    leads.signal(SIGINT);
    BOOST_TEST(leads.exit_status().has_value());
    tool missing = start({"lead", "shop", "--", "no-such-program"});
    BOOST_TEST(missing.ends_with(127));
}

BOOST_FIXTURE_TEST_CASE(a_signal_at_any_moment_ends_it, tool_nodes)
{
    // Some arrive between the grant and the start of the command.
    for (const char* const command : {"run", "lead"})
    {
        for (auto delay = 0ms; delay < 40ms; delay += 2ms)
        {
            tool begins = start({command, "r", "--", "sleep", "60"});
            std::this_thread::sleep_for(delay);  // Stands for the number of answers.
            begins.signal(SIGTERM);
            // Without a status, the signal has ended a process that knew nothing of signals yet.
            const int status = begins.exit_status().value_or(128 + SIGTERM);
            BOOST_TEST_REQUIRE(status == 128 + SIGTERM, command << " after " << delay);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_leader_whose_command_ends_with_127_leads_again, tool_nodes)
{
    tool leads =
        start({"lead", "r", "--pause", "10ms", "--", "sh", "-c", "echo $REDLOCK_FENCE; exit 127"});
    BOOST_TEST(eventually([&] {
        const std::string told = leads.output();
        return std::count(told.begin(), told.end(), '\n') >= 3;
    }));
    leads.signal(SIGTERM);
    BOOST_TEST(leads.exit_status().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_leader_that_was_revoked_lets_another_one_lead_first, tool_nodes)
{
    tool leads = start({"lead", "r", "--ttl", "1s", "--", "sh", "-c", "echo begins; sleep 60"});
    BOOST_TEST_REQUIRE(leads.says("begins"));
    BOOST_TEST(start({"revoke", "r"}).ends_with(0));
    BOOST_TEST_REQUIRE(leads.says("this holder was asked to stop"));
    tool other = start({"run", "r", "-n", "--", "true"});
    BOOST_TEST(other.ends_with(0));
    BOOST_TEST(
        leads.says("begins\nredlock: r: this holder was asked to stop; the command was "
                   "stopped\nbegins")
    );
}

BOOST_FIXTURE_TEST_CASE(a_leader_with_other_settings_says_so_and_ends, tool_nodes)
{
    tool leads = start({"lead", "r", "--ttl-max", "20s", "--", "true"});
    BOOST_TEST(leads.ends_with(125));
    BOOST_TEST(leads.has_said("marked for other settings"));
}

BOOST_AUTO_TEST_SUITE_END()
