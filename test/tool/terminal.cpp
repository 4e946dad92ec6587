// `redlock run` as a job of a shell on a terminal.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

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

BOOST_AUTO_TEST_SUITE_END()
