#include "isolated.hpp"

#include "posix.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

struct pipe_ends
{
    unique_fd read;
    unique_fd write;
};

pipe_ends make_pipe()
{
    std::array<int, 2> fds{};
    checked(::pipe2(fds.data(), O_CLOEXEC), "pipe2");
    return {.read = unique_fd(fds[0]), .write = unique_fd(fds[1])};
}

[[noreturn]] void run_child(
    int output,
    std::chrono::seconds limit,
    std::span<const std::byte> found,
    const std::function<void()>& measure
)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The signal ends the child, and the parent reads the end of file.
    ::alarm(static_cast<unsigned>(limit.count()));
    int status = 1;
    try
    {
        measure();
        if (::write(output, found.data(), found.size()) == static_cast<ssize_t>(found.size()))
            status = 0;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "measurement failed: %s\n", failure.what());
    }
    ::_exit(status);  // The parent's objects are not ours to destroy.
}

}  // namespace

void run_in_child(
    std::chrono::seconds limit,
    std::span<std::byte> found,
    const std::function<void()>& measure
)
{
    pipe_ends ends = make_pipe();
    const pid_t child = checked(::fork(), "fork");
    if (child == 0)
        run_child(ends.write.get(), limit, found, measure);

    ends.write = unique_fd();
    const ssize_t size = ::read(ends.read.get(), found.data(), found.size());
    int status = 0;
    ::waitpid(child, &status, 0);
    if (size != static_cast<ssize_t>(found.size()) || status != 0)
        throw std::runtime_error("a measurement did not finish");
}

}  // namespace bench
