// The commands that ask the nodes and end, and the servers of `redlock local`.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "support/needs.hpp"
#include "support/resp_client.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_queries,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_CASE(show_tells_the_holder_in_fields_and_in_json, tool_nodes)
{
    tool holder = run("echo runs; sleep 60", {"--note", "the printer"});
    BOOST_TEST_REQUIRE(holder.says("runs"));
    tool fields = start({"show", "orders:42", "nothing"});
    BOOST_TEST(fields.ends_with(0));
    BOOST_TEST(fields.has_said("orders:42\theld\tthe printer\t1"));
    BOOST_TEST(fields.has_said("nothing\tfree\t-\t-\t-\t-\t0\t3 of 3\n"));
    tool json = start({"show", "orders:42", "--json"});
    BOOST_TEST(json.ends_with(0));
    BOOST_TEST(
        json.has_said("[{\"resource\":\"orders:42\",\"state\":\"held\",\"note\":\"the printer\"")
    );
}

BOOST_FIXTURE_TEST_CASE(show_without_a_quorum_is_an_error, tool_nodes)
{
    nodes[0].kill();
    nodes[1].kill();
    tool seen = start({"show", "orders:42"});
    BOOST_TEST(seen.ends_with(125));
    BOOST_TEST(seen.has_said("too few nodes answered"));
}

BOOST_FIXTURE_TEST_CASE(watch_tells_each_change_until_it_is_interrupted, tool_nodes)
{
    tool watches = start({"watch", "orders:42"});
    BOOST_TEST(watches.says("orders:42\tfree"));
    tool holder = run("sleep 60", {"--note", "first"});
    BOOST_TEST(watches.says("orders:42\theld\tfirst"));
    holder.signal(SIGTERM);
    BOOST_TEST(eventually([&] {
        return watches.output().rfind("free") > watches.output().rfind("held");
    }));
    watches.signal(SIGINT);
    BOOST_TEST(watches.ends_with(128 + SIGINT));
}

BOOST_FIXTURE_TEST_CASE(init_admits_once, tool_nodes)
{
    tool again = start({"init"});
    BOOST_TEST(again.ends_with(1));
    BOOST_TEST(again.has_said("a node was in use before"));
}

BOOST_AUTO_TEST_CASE(local_servers_are_there_for_a_command_and_gone_afterwards)
{
    tool local(
        {"local",
         "3",
         "--",
         "sh",
         "-c",
         "echo $REDLOCK_NODES; " REDLOCK_TOOL " run r -- echo locked; exit 4"}
    );
    BOOST_TEST(local.ends_with(4));
    BOOST_TEST(local.has_said("redis://127.0.0.1:"));
    BOOST_TEST(local.has_said("locked"));
    const int port = number_behind("redis://127.0.0.1:", local.output());
    BOOST_TEST_REQUIRE(port > 0);
    BOOST_CHECK_THROW(resp_client(static_cast<std::uint16_t>(port), 100ms), std::system_error);
}

BOOST_AUTO_TEST_CASE(local_servers_and_their_folder_are_gone_after_a_kill)
{
    const temp_folder place;
    tool local({"local", "2"}, {"TMPDIR=" + place.path().string()});
    BOOST_TEST_REQUIRE(local.says("export REDLOCK_NODES=redis://127.0.0.1:"));
    BOOST_TEST(!std::filesystem::is_empty(place.path()));
    const int port = number_behind("redis://127.0.0.1:", local.output());
    local.kill();
    BOOST_TEST(eventually([&] {
        try
        {
            resp_client still_there(static_cast<std::uint16_t>(port), 100ms);
            return false;
        }
        catch (const std::system_error&)
        {
            return std::filesystem::is_empty(place.path());
        }
    }));
}

BOOST_AUTO_TEST_CASE(local_servers_end_with_an_interrupt)
{
    const temp_folder place;
    tool local({"local", "1", "--json"}, {"TMPDIR=" + place.path().string()});
    BOOST_TEST_REQUIRE(local.says("{\"nodes\":\"redis://127.0.0.1:"));
    local.signal(SIGINT);
    BOOST_TEST(local.ends_with(0));
    BOOST_TEST(std::filesystem::is_empty(place.path()));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_named)
{
    tool local({"local", "1", "--server", "no-such-server"});
    BOOST_TEST(local.ends_with(125));
    BOOST_TEST(local.has_said("'no-such-server' is not installed"));
    tool odd({"local", "1", "--server", "false"});
    BOOST_TEST(odd.ends_with(125));
    BOOST_TEST(odd.has_said(" exited: "));
}

BOOST_AUTO_TEST_CASE(help_ends_with_an_example_and_the_pages_have_all_commands)
{
    for (const char* command :
         {"run", "lead", "show", "watch", "revoke", "free", "init", "doctor", "local"})
    {
        tool help({command, "--help"});
        BOOST_TEST(help.ends_with(0));
        BOOST_TEST(help.has_said(std::string("Example: redlock ") + command), command);
        tool man({"--write-man"});
        BOOST_TEST(man.ends_with(0));
        BOOST_TEST(man.has_said(std::string(".B redlock ") + command), command);
    }
    tool version({"--version"});
    BOOST_TEST(version.ends_with(0));
}

BOOST_AUTO_TEST_CASE(the_shell_completes_commands_and_options)
{
    const temp_folder place;
    tool bash({"--write-bash"});
    BOOST_TEST(bash.ends_with(0));
    write_file(place.path() / "completion", bash.output());
    const auto completes = [&](const std::string& words, const std::string& index) {
        const std::string line = ". " + (place.path() / "completion").string() + "; COMP_WORDS=(" +
                                 words + "); COMP_CWORD=" + index +
                                 "; _redlock; echo \"${COMPREPLY[@]}\"";
        child_process shell({"/bin/bash", {"bash", "-c", line}, {}, place.path() / "said"});
        BOOST_TEST(eventually([&] { return shell.has_ended(); }));
        const std::string said = read_file(place.path() / "said");
        std::filesystem::remove(place.path() / "said");
        return said;
    };
    BOOST_TEST(completes("redlock do", "1") == "doctor\n");
    BOOST_TEST(completes("redlock run x --stop", "3") == "--stop-before\n");
}

BOOST_AUTO_TEST_SUITE_END()
