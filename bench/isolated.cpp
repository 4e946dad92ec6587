#include "isolated.hpp"

#include "child.hpp"
#include "posix.hpp"

#include <array>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

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

}  // namespace

void run_in_child(
    std::chrono::seconds limit,
    std::span<std::byte> found,
    const std::function<void()>& measure
)
{
    pipe_ends ends = make_pipe();
    child measuring(limit, [&] {
        measure();
        const int output = ends.write.get();
        const ssize_t written = checked(::write(output, found.data(), found.size()), "write");
        if (written != static_cast<ssize_t>(found.size()))
            throw std::runtime_error("the pipe took a part of the result");
    });
    ends.write = unique_fd();  // So that the end of the child is the end of file.
    const ssize_t size = ::read(ends.read.get(), found.data(), found.size());
    if (!measuring.join() || size != static_cast<ssize_t>(found.size()))
        throw std::runtime_error("a measurement did not finish");
}

}  // namespace bench
