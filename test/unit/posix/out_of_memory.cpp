// Memory that runs out while a client works ends the program.

#include "client/spawn_op.hpp"
#include "loop/clock.hpp"
#include "loop/strand.hpp"
#include "loop/turn.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_out_of_memory)

namespace asio = boost::asio;
using namespace redlock;
using redlock::test::contains;

namespace {

/// What a child process writes to stderr while it does `work`. Empty unless that aborts it.
std::string last_words(const std::function<void()>& work)
{
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        throw std::runtime_error("pipe failed");
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error("fork failed");
    if (child == 0)
    {
        ::signal(SIGABRT, SIG_DFL);  // Boost.Test goes on after it.
        const rlimit no_core{};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::dup2(ends[1], STDERR_FILENO);
        work();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string words;
    std::array<char, 1024> part{};
    for (ssize_t size = 1; size > 0; words.append(part.data(), static_cast<std::size_t>(size)))
        size = std::max<ssize_t>(::read(ends[0], part.data(), part.size()), 0);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? words : "";
}

void run_short()
{
    throw std::bad_alloc();
}

struct short_task final : detail::deferred
{
    void on_turn_end() override { run_short(); }
};

detail::task<error_code> short_operation()
{
    run_short();
    co_return error_code();
}

struct loop_fixture
{
    void run(const std::function<void()>& start)
    {
        try
        {
            start();
            context.run();
        }
        catch (const std::bad_alloc&)
        {
            // The caller would go on, with a client that has lost its thread.
        }
    }

    asio::io_context context;
    detail::strand_type strand{context.get_executor()};
    std::shared_ptr<detail::turn> end_of_turn =
        std::make_shared<detail::turn>(context.get_executor(), strand);
    std::shared_ptr<detail::clock> time = detail::make_system_clock(strand);
    std::unique_ptr<detail::alarm> set = time->make_alarm();
    short_task task;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(
    memory_that_is_short_on_the_strand_ends_the_program_with_a_message,
    loop_fixture
)
{
    using handler = asio::any_completion_handler<void(error_code)>;
    const std::array<std::pair<const char*, std::function<void()>>, 6> ways{{
        {"entering", [this] { detail::enter(strand, run_short); }},
        {"entering later", [this] { detail::enter_later(strand, run_short); }},
        {"replies", [this] { end_of_turn->work(run_short); }},
        {"the end of a turn", [this] { end_of_turn->defer(task); }},
        {"an alarm", [this] { set->set(time->now().steady, run_short); }},
        {"an operation",
         [] { detail::carry_out(short_operation(), handler([](error_code) {}), nullptr).start(); }},
    }};
    for (const auto& [name, way] : ways)
    {
        BOOST_TEST_CONTEXT(name)
        BOOST_TEST(contains(last_words([&, &way = way] { run(way); }), "bad_alloc"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
