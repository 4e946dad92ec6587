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
#include <type_traits>
#include <utility>

namespace bench {
namespace {

static_assert(std::is_trivially_copyable_v<result>, "A result crosses a pipe as it is.");

constexpr unsigned limit_seconds = 120;

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

template <class Measure>
[[noreturn]] void run_child(int output, Measure measure)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(limit_seconds);  // The signal ends the child, and the parent reads the end of file.
    int status = 1;
    try
    {
        const result found = measure();
        if (::write(output, &found, sizeof found) == ssize_t{sizeof found})
            status = 0;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "measurement failed: %s\n", failure.what());
    }
    ::_exit(status);  // The parent's objects are not ours to destroy.
}

}  // namespace

result run_isolated(
    run_function run,
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
)
{
    pipe_ends ends = make_pipe();
    const pid_t child = checked(::fork(), "fork");
    if (child == 0)
        run_child(ends.write.get(), [&] { return run(ports, concurrency, pairs); });

    ends.write = unique_fd();
    result found{};
    const ssize_t size = ::read(ends.read.get(), &found, sizeof found);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (size != ssize_t{sizeof found} || status != 0)
        throw std::runtime_error("a measurement did not finish");
    return found;
}

}  // namespace bench
