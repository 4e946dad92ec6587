// Overruns in a process and its children, and the end of one.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/late_term.hpp"
#include "support/posix.hpp"

BOOST_AUTO_TEST_SUITE(test_watchdog)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// How a child process ended, that did `what`. A child that hangs is killed.
int status_of_child(const std::function<void()>& what)
{
    const pid_t child = ::fork();
    if (child == 0)
    {
        ::alarm(10);
        ::signal(SIGABRT, SIG_DFL);  // Not that of the tests.
        what();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

bool ended_by(int status, int signal)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

}  // namespace

#ifndef __SANITIZE_THREAD__  // It does not support threads in a child of a process with threads.
BOOST_AUTO_TEST_CASE(a_child_process_waits_for_no_thread_of_its_parent_and_watches_its_own_terms)
{
    late_term of_parent(1ms);
    blocks = true;
    // The thread of the parent has locked the mutex, and the copy stays locked.
    BOOST_TEST_REQUIRE(eventually([] { return begun > 0; }));

    const int status = status_of_child([&] {
        of_parent.entry.reset();
        late_term own(1ms);
        ::_exit(eventually([] { return ended > 0; }) ? 0 : 1);
    });
    blocks = false;

    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
#endif

BOOST_AUTO_TEST_CASE(an_overrun_ends_the_process_and_says_which_term_it_was)
{
    const temp_folder folder;
    const auto output = folder.path() / "output";
    const int status = status_of_child([&] {
        ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        abort_on_overrun({"jobs", fencing_token::from_value(42)});
    });

    BOOST_TEST(ended_by(status, SIGABRT));
    BOOST_TEST(contains(read_file(output), "redlock: lead of 'jobs', term 42:"));
}

BOOST_AUTO_TEST_CASE(an_overrun_ends_the_process_even_if_nobody_reads_what_it_says)
{
    const int status = status_of_child([] {
        int ends[2];
        if (::pipe(ends) != 0)
            ::_exit(1);
        ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while (::write(ends[1], "full", 4) == 4)
            continue;
        ::fcntl(ends[1], F_SETFL, 0);
        ::dup2(ends[1], STDERR_FILENO);
        abort_on_overrun({std::string(512, 'x'), {}});
    });

    BOOST_TEST(ended_by(status, SIGABRT));
}

BOOST_AUTO_TEST_SUITE_END()
