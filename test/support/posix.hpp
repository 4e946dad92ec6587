#ifndef REDLOCK_TEST_SUPPORT_POSIX_HPP
#define REDLOCK_TEST_SUPPORT_POSIX_HPP

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::test {

/// Owns a file descriptor.
class descriptor
{
public:
    descriptor() = default;
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    void reset() noexcept;

private:
    int fd_{-1};
};

/// A private folder in the temporary directory, removed with everything in it.
class temp_folder
{
public:
    temp_folder();
    temp_folder(const temp_folder&) = delete;
    temp_folder& operator=(const temp_folder&) = delete;
    ~temp_folder();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/** A loopback port that is ours for as long as the object lives.

    The reservation is a socket that is bound with `SO_REUSEADDR` and never listens. The kernel then
    gives the port to nobody who asks for any port, in particular not to an outgoing connection: a
    client that keeps calling a dead server could otherwise be given the server's port and connect
    to itself. A server that binds exactly this port with `SO_REUSEADDR`, as Redis does, may listen
    on it, and while none does connections are refused.
*/
class loopback_port
{
public:
    loopback_port();

    [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

    /// Returns a new non-blocking socket that listens on the port.
    [[nodiscard]] descriptor listen() const;

private:
    descriptor reservation_;
    std::uint16_t number_{0};
};

using deadline_clock = std::chrono::steady_clock;
using deadline_point = deadline_clock::time_point;

/// Starts to connect a non-blocking socket. An attempt that fails at once throws.
[[nodiscard]] descriptor connect_tcp(std::uint16_t port);
[[nodiscard]] descriptor connect_unix(const std::filesystem::path& path);

/// Waits for `events`, as in `poll`, or an error on `fd`. Throws a timeout at the deadline.
void wait_ready(int fd, short events, deadline_point deadline);

/// Returns the argument of `poll` that waits until `deadline`, rounded up.
[[nodiscard]] int milliseconds_until(deadline_point deadline);

/// Returns the file that a shell would run for `name`, empty if there is none.
[[nodiscard]] std::filesystem::path find_program(std::string_view name);

/// Returns `text` as one word of a shell command.
[[nodiscard]] std::string shell_word(std::string_view text);

/// Returns the content of a file, empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

[[noreturn]] void throw_errno(const char* what);

}  // namespace redlock::test

#endif
