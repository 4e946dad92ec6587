#include "client/watchdog.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

// What `on_overrun` was told. It has to be a function.
std::atomic<int> begun = 0;
std::atomic<int> ended = 0;
std::atomic<std::thread::id> told_on{std::thread::id()};
std::atomic<bool> blocks = false;

void note_overrun(const overrun&) noexcept
{
    told_on = std::this_thread::get_id();
    ++begun;
    while (blocks)
        std::this_thread::sleep_for(1ms);
    ++ended;
}

/// A term whose lease is over: it overruns after `stop_before`.
struct late_term
{
    explicit late_term(milliseconds stop_before)
        : watched(over, {.stop_before = stop_before, .on_overrun = note_overrun})
    {
        begun = 0;
        ended = 0;
        blocks = false;
        entry.emplace(watched);
    }

    const lease over{};
    detail::watched_term watched;
    std::optional<detail::watchdog::entry> entry;
};

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

BOOST_AUTO_TEST_SUITE(test_watchdog)

BOOST_AUTO_TEST_CASE(an_overrun_is_told_once_on_a_thread_that_no_body_can_block)
{
    const auto before = std::chrono::steady_clock::now();
    late_term term(50ms);

    BOOST_TEST(eventually([] { return ended > 0; }));
    BOOST_TEST((std::chrono::steady_clock::now() >= before + 50ms));
    BOOST_TEST((told_on.load() != std::this_thread::get_id()));
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(begun == 1);
}

BOOST_AUTO_TEST_CASE(a_term_is_watched_after_a_time_without_any)
{
    {
        const late_term first(1ms);
        BOOST_TEST_REQUIRE(eventually([] { return ended > 0; }));
    }
    // The watchdog looks once more within half a second, and then sleeps until it is woken.
    std::this_thread::sleep_for(700ms);
    const late_term second(1ms);
    BOOST_TEST(eventually([] { return ended > 0; }));
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_in_time_is_told_of_no_more)
{
    {
        const late_term term(50ms);
    }
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(begun == 0);
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_while_its_overrun_is_told_waits_for_that)
{
    late_term term(1ms);
    blocks = true;
    BOOST_TEST_REQUIRE(eventually([] { return begun > 0; }));
    std::thread later([] {
        std::this_thread::sleep_for(50ms);
        blocks = false;
    });

    term.entry.reset();

    BOOST_TEST(ended == 1);
    later.join();
}

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
        if (::pipe2(ends, O_NONBLOCK) != 0)
            ::_exit(1);
        while (::write(ends[1], "full", 4) == 4)
            continue;
        ::fcntl(ends[1], F_SETFL, 0);
        ::dup2(ends[1], STDERR_FILENO);
        abort_on_overrun({std::string(512, 'x'), {}});
    });

    BOOST_TEST(ended_by(status, SIGABRT));
}

BOOST_AUTO_TEST_SUITE_END()
