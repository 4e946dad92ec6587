#ifndef REDLOCK_BENCH_POSIX_HPP
#define REDLOCK_BENCH_POSIX_HPP

#include <cstdint>
#include <utility>

namespace bench {

/// Throws `std::system_error` for `errno`, naming the call that failed.
[[noreturn]] void throw_errno(const char* call);

/// Returns `value`, or throws for `errno` if it is negative.
template <class Integer>
Integer checked(Integer value, const char* call)
{
    if (value < 0)
        throw_errno(call);
    return value;
}

/// Owns a file descriptor and closes it.
class unique_fd
{
public:
    unique_fd() = default;
    explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    unique_fd& operator=(unique_fd other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~unique_fd();

    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_{-1};
};

/** Connects to a port of 127.0.0.1.

    The socket blocks, gives up a read or a write after five seconds and does not delay small
    segments.

    @throws std::system_error If nobody listens.
*/
[[nodiscard]] unique_fd connect_to(std::uint16_t port);

}  // namespace bench

#endif
