#include "child.hpp"

#include "posix.hpp"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <system_error>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

[[noreturn]] void run(std::chrono::seconds limit, const std::function<void()>& body)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(static_cast<unsigned>(limit.count()));
    int status = 0;
    try
    {
        body();
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "measurement failed: %s\n", failure.what());
        status = 1;
    }
    ::_exit(status);  // The parent's objects are not ours to destroy.
}

}  // namespace

child::child(std::chrono::seconds limit, const std::function<void()>& body)
    : pid_(checked(::fork(), "fork"))
{
    if (pid_ == 0)
        run(limit, body);
}

child::~child()
{
    if (pid_ == 0)
        return;
    ::kill(pid_, SIGKILL);
    (void)join();
}

bool child::join()
{
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status == 0;
}

void child::signal(int number) const
{
    checked(::kill(pid_, number), "kill");
}

void child::freeze()
{
    signal(SIGSTOP);
    int status = 0;
    checked(::waitpid(pid_, &status, WUNTRACED), "waitpid");
    if (WIFSTOPPED(status))
        return;
    pid_ = 0;
    throw std::runtime_error("a process that was to be frozen has ended");
}

std::chrono::nanoseconds cpu_time_of(::pid_t process)
{
    ::clockid_t clock = 0;
    if (const int failure = ::clock_getcpuclockid(process, &clock))
        throw std::system_error(failure, std::generic_category(), "clock_getcpuclockid");
    ::timespec used{};
    checked(::clock_gettime(clock, &used), "clock_gettime");
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace bench
