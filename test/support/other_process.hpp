#ifndef REDLOCK_TEST_SUPPORT_OTHER_PROCESS_HPP
#define REDLOCK_TEST_SUPPORT_OTHER_PROCESS_HPP

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/posix.hpp"

namespace redlock::test {

/// A copy of this process. Made before the test has any thread, and any client but those that are
/// to be copied. Killed with the object.
class other_process
{
public:
    /// @param body Runs in the other process, with what it may write to us.
    /// @param copied A context that both processes go on with. Null: there is none.
    explicit other_process(
        const std::function<void(int output)>& body,
        boost::asio::io_context* copied = nullptr
    )
    {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            throw_errno("pipe2");
        input_ = descriptor(ends[0]);
        const descriptor output(ends[1]);
        if (copied)
            copied->notify_fork(boost::asio::execution_context::fork_prepare);
        pid_ = ::fork();
        if (pid_ < 0)
            throw_errno("fork");
        if (copied)
        {
            copied->notify_fork(
                pid_ == 0 ? boost::asio::execution_context::fork_child
                          : boost::asio::execution_context::fork_parent
            );
        }
        if (pid_ == 0)
            become(body, output.get());
    }

    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;
    ~other_process() { kill(); }

    void signal(int number) const { ::kill(pid_, number); }

    void kill()
    {
        if (pid_ == 0)
            return;
        signal(SIGKILL);
        wait();
    }

    /// Waits for its end. @return Its exit status, -1 if a signal ended it.
    int wait()
    {
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    [[nodiscard]] bool has_written() const
    {
        ::pollfd waiting{input_.get(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    }

    /// Reads what it wrote, waiting for it.
    template <class T>
    [[nodiscard]] T read() const
    {
        T value{};
        wait_ready(input_.get(), POLLIN, deadline_clock::now() + std::chrono::seconds(20));
        const auto got = ::read(input_.get(), &value, sizeof value);
        BOOST_TEST_REQUIRE(got == static_cast<ssize_t>(sizeof value));
        return value;
    }

    template <class T>
    static void write(int output, const T& value)
    {
        if (::write(output, &value, sizeof value) != static_cast<ssize_t>(sizeof value))
            ::_exit(3);
    }

private:
    // Must not return into the tests, nor end what belongs to the parent.
    [[noreturn]] static void become(const std::function<void(int)>& body, int output)
    {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        try
        {
            body(output);
        }
        catch (const std::exception&)
        {
            ::_exit(2);
        }
        ::_exit(0);
    }

    pid_t pid_ = 0;
    descriptor input_;
};

}  // namespace redlock::test

#endif
