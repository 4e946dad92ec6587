// `redlock run` as a job of a shell on a terminal.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_terminal,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

bool is_stopped(int pid)
{
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto end = stat.rfind(')');
    return end != std::string::npos && stat.at(end + 2) == 'T';
}

/// An interactive shell with job control.
class terminal
{
public:
    explicit terminal(const std::string& nodes)
    {
        pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
        if (pid_ == 0)
        {
            ::setenv("REDLOCK_NODES", nodes.c_str(), 1);
            ::setenv("PS1", "", 1);
            ::execl("/bin/bash", "bash", "--norc", "--noediting", "-i", nullptr);
            ::_exit(127);
        }
        BOOST_TEST_REQUIRE(pid_ > 0);
    }

    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    ~terminal()
    {
        ::close(master_);  // Hangs up.
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    void type(std::string_view keys) const
    {
        BOOST_TEST(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }

    /// Waits until it has shown a text behind what was found before.
    [[nodiscard]] bool shows(std::string_view text)
    {
        const bool found = eventually(
            [&] {
                read();
                return shown_.find(text, found_) != std::string::npos;
            },
            patience
        );
        BOOST_TEST_INFO("it shows: " << shown_);
        if (found)
            found_ = shown_.find(text, found_) + text.size();
        return found;
    }

    /// Waits for the two numbers behind what was found last.
    [[nodiscard]] std::pair<int, int> two_numbers()
    {
        const std::size_t from = found_;
        BOOST_TEST_REQUIRE(shows(">"));
        std::pair<int, int> result;
        std::sscanf(shown_.c_str() + from, "%d %d", &result.first, &result.second);
        return result;
    }

private:
    void read()
    {
        ::pollfd waiting{master_, POLLIN, 0};
        char some[4096];
        while (::poll(&waiting, 1, 0) == 1)
        {
            const ssize_t size = ::read(master_, some, sizeof some);
            if (size <= 0)
                return;
            shown_.append(some, static_cast<std::size_t>(size));
        }
    }

    int master_ = -1;
    pid_t pid_ = -1;
    std::string shown_;
    std::size_t found_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_command_has_the_terminal_and_ctrl_c_reaches_it, tool_nodes)
{
    terminal shell(list_of(nodes));
    // What is typed is shown too, so what is looked for is put together.
    shell.type(REDLOCK_TOOL " run r -- sh -c 'read line; echo \"got <\"$line\">\"; exec sleep 60'\n"
    );
    shell.type("hello\n");
    BOOST_TEST_REQUIRE(shell.shows("got <hello>"));
    shell.type("\x03");
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST(shell.shows("status <130>"));
}

BOOST_FIXTURE_TEST_CASE(ctrl_c_ends_leading_whoever_has_the_terminal, tool_nodes)
{
    for (const char* const redirected : {"", " 2> /dev/null", " < /dev/null", " | cat"})
    {
        BOOST_TEST_CONTEXT(redirected)
        {
            terminal shell(list_of(nodes));
            shell.type(
                REDLOCK_TOOL " lead r -- sh -c 'echo \"begins <\"1\">\"; exec sleep 60'" +
                std::string(redirected) + "\n"
            );
            BOOST_TEST_REQUIRE(shell.shows("begins <1>"));
            shell.type("\x03");
            shell.type("echo \"status <\"${PIPESTATUS[0]}\">\"\n");
            BOOST_TEST(shell.shows("status <130>"));
        }
    }
}

BOOST_FIXTURE_TEST_CASE(ctrl_z_stops_both_and_fg_lets_them_go_on, tool_nodes)
{
    terminal shell(list_of(nodes));
    shell.type(
        REDLOCK_TOOL
        " run r -- sh -c 'echo \"begins <\"1\">\"; read line; echo \"got <\"$line\">\"; exit 5'\n"
    );
    BOOST_TEST_REQUIRE(shell.shows("begins <1>"));
    shell.type("\x1a");
    BOOST_TEST_REQUIRE(shell.shows("Stopped"));
    shell.type("echo \"shell <\"1\">\"\n");
    BOOST_TEST(shell.shows("shell <1>"));
    shell.type("fg\n");
    shell.type("again\n");
    BOOST_TEST(shell.shows("got <again>"));
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST(shell.shows("status <5>"));
}

BOOST_FIXTURE_TEST_CASE(
    a_command_that_was_stopped_for_longer_than_its_lease_does_not_go_on,
    tool_nodes
)
{
    terminal shell(list_of(nodes));
    shell.type(REDLOCK_TOOL
               " run r --ttl 1s -- sh -c 'echo \"begins <\"1\">\"; read line; echo \"got "
               "<\"$line\">\"'\n");
    BOOST_TEST_REQUIRE(shell.shows("begins <1>"));
    shell.type("\x1a");
    BOOST_TEST_REQUIRE(shell.shows("Stopped"));
    tool next = start({"run", "r", "--", "true"});
    BOOST_TEST(next.ends_with(0));
    shell.type("fg\n");
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST(shell.shows("status <124>"));
}

BOOST_FIXTURE_TEST_CASE(a_command_whose_output_is_redirected_stops_with_ctrl_z_too, tool_nodes)
{
    const std::string lines = (folder.path() / "lines").string();
    for (const char* const redirected : {" > /dev/null", " | cat", " < /dev/null"})
    {
        BOOST_TEST_CONTEXT(redirected)
        {
            terminal shell(list_of(nodes));
            shell.type(
                REDLOCK_TOOL " run r --ttl 1s -- sh -c 'echo \"pid <\"$$\">\" > " + lines +
                "; exec sleep 60'" + redirected + "\n"
            );
            BOOST_TEST_REQUIRE(eventually([&] { return read_file(lines).ends_with(">\n"); }));
            const int command = number_behind("<", read_file(lines));
            shell.type("\x1a");
            BOOST_TEST_REQUIRE(shell.shows("Stopped"));
            BOOST_TEST(eventually([&] { return is_stopped(command); }));
            tool next = start({"run", "r", "--", "true"});
            BOOST_TEST(next.ends_with(0));
            shell.type("fg\n");
            BOOST_TEST(eventually([&] { return !is_alive(command); }));
            std::filesystem::remove(lines);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(
    a_command_that_reads_the_terminal_gets_it_whatever_is_redirected,
    tool_nodes
)
{
    const std::string file = (folder.path() / "file").string();
    terminal shell(list_of(nodes));
    shell.type(
        REDLOCK_TOOL " run r -- sh -c 'read line; echo \"got <\"$line\">\"; exit 3' > " + file +
        "\n"
    );
    shell.type("one\n");
    BOOST_TEST(eventually([&] { return read_file(file) == "got <one>\n"; }, patience));
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST_REQUIRE(shell.shows("status <3>"));
    shell.type(
        REDLOCK_TOOL
        " run r -- sh -c 'read line < /dev/tty; echo \"got <\"$line\">\"' < /dev/null | cat\n"
    );
    shell.type("two\n");
    BOOST_TEST(shell.shows("got <two>"));
    shell.type(
        REDLOCK_TOOL
        " lead r -- sh -c 'trap \"\" TERM; stty -a < /dev/tty; kill -TERM $PPID' > /dev/null\n"
    );
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST(shell.shows("status <0>"));
    shell.type(REDLOCK_TOOL " local 1 -- sh -c 'read line; echo \"got <\"$line\">\"' | cat\n");
    shell.type("three\n");
    BOOST_TEST(shell.shows("got <three>"));
}

BOOST_FIXTURE_TEST_CASE(a_command_in_the_background_that_reads_waits_for_fg, tool_nodes)
{
    terminal shell(list_of(nodes));
    shell.type(REDLOCK_TOOL " run r --ttl 1s -- sh -c 'read line; echo \"got <\"$line\">\"' &\n");
    BOOST_TEST_REQUIRE(shell.shows("redlock: r: the command waits for the terminal"));
    // Its lease ends: it mustn't keep others waiting.
    tool next = start({"run", "r", "--", "true"});
    BOOST_TEST(next.ends_with(0));
    shell.type("fg\n");
    shell.type("echo \"status <\"$?\">\"\n");
    BOOST_TEST_REQUIRE(shell.shows("status <124>"));

    shell.type(REDLOCK_TOOL " run r -- sh -c 'read line; echo \"got <\"$line\">\"' &\n");
    BOOST_TEST_REQUIRE(shell.shows("redlock: r: the command waits for the terminal"));
    shell.type("wait %1; fg\n");  // A wait ends when the job has stopped, too.
    shell.type("again\n");
    BOOST_TEST(shell.shows("got <again>"));
}

BOOST_FIXTURE_TEST_CASE(ctrl_z_stops_what_has_no_command_too, tool_nodes)
{
    const std::pair<const char*, const char*> begins[] = {
        {" local 1\n", "Press Ctrl-C"},
        {" watch orders\n", "free"},
    };
    for (const auto& [what, sign] : begins)
    {
        BOOST_TEST_CONTEXT(what)
        {
            terminal shell(list_of(nodes));
            shell.type(std::string(REDLOCK_TOOL) + what);
            BOOST_TEST_REQUIRE(shell.shows(sign));
            shell.type("\x1a");
            BOOST_TEST(shell.shows("Stopped"));
            shell.type("kill -KILL %1 %2\n");
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_stopped_job_goes_on_in_the_background, tool_nodes)
{
    terminal shell(list_of(nodes));
    shell.type(REDLOCK_TOOL " run r -- sh -c 'echo \"begins <\"1\">\"; exec sleep 1'\n");
    BOOST_TEST_REQUIRE(shell.shows("begins <1>"));
    shell.type("\x1a");
    BOOST_TEST_REQUIRE(shell.shows("Stopped"));
    shell.type("bg; wait %1; echo \"status <\"$?\">\"\n");
    BOOST_TEST(shell.shows("status <0>"));
}

BOOST_FIXTURE_TEST_CASE(a_supervisor_stops_and_continues_the_command_with_the_wrapper, tool_nodes)
{
    terminal shell(list_of(nodes));
    shell.type(REDLOCK_TOOL " run r -- sh -c 'echo \"pids:\"\" <\"$PPID $$\">\"; exec sleep 60'\n");
    BOOST_TEST_REQUIRE(shell.shows("pids: <"));
    const auto [wrapper, command] = shell.two_numbers();
    BOOST_TEST_REQUIRE((wrapper > 0 && command > 0));
    for (const int number : {SIGTSTP, SIGTTIN, SIGTTOU})
    {
        BOOST_TEST_CONTEXT(number)
        {
            ::kill(wrapper, number);
            BOOST_TEST(eventually([&] { return is_stopped(wrapper) && is_stopped(command); }));
            ::kill(wrapper, SIGCONT);
            BOOST_TEST(eventually([&] { return !is_stopped(command); }));
        }
    }
    // What is stopped can be ended.
    ::kill(command, SIGSTOP);
    BOOST_TEST_REQUIRE(eventually([&] { return is_stopped(command); }));
    ::kill(wrapper, SIGTERM);
    BOOST_TEST(eventually([&] { return !is_alive(command); }));
}

BOOST_AUTO_TEST_SUITE_END()
