#ifndef REDLOCK_SRC_LOOP_PLATFORM_HPP
#define REDLOCK_SRC_LOOP_PLATFORM_HPP

#include "loop/strand.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Everything that differs between operating systems. CMake chooses the files that define it, and
/// no other code asks which system it is compiled for.
namespace redlock::detail::platform {

/// Time since the machine was started, suspension included.
[[nodiscard]] std::chrono::nanoseconds boot_time() noexcept;

/// How many forks by the C library led to this process. 0 on systems without forks.
[[nodiscard]] unsigned fork_count() noexcept;

[[nodiscard]] std::int64_t process_id() noexcept;

/// Takes random bytes from the system's generator.
/// @throws boost::system::system_error if it has no entropy.
void fill_random(std::span<unsigned char> to);

/// Calls a function while signals are blocked in this thread, and so in threads that it starts.
void without_signals(const std::function<void()>& what);

/// Writes a line to stderr from a process that is about to end, even if nobody reads there.
void write_last_words(std::string_view line) noexcept;

/// Whether other processes in the process group of `leader` are still running.
[[nodiscard]] bool has_others(int leader);

/// Makes the system kill this process when its parent ends. @return Whether it can.
bool end_with_parent() noexcept;

using stream_socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, strand_type>;

/// Like `socket.open()`, but programs that this process executes don't get the socket.
[[nodiscard]] boost::system::error_code open_socket(
    stream_socket& socket,
    const boost::asio::generic::stream_protocol& of
);

/// The longest path of a Unix socket, in bytes.
[[nodiscard]] std::size_t max_socket_path() noexcept;

/// Changes when a file is written, replaced, or given other permissions. Zeros if there is no file.
struct file_stamp
{
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t written_ns = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const file_stamp&) const = default;
};

[[nodiscard]] file_stamp stamp_of(const std::string& file) noexcept;

/// The certificates of the authorities that the system trusts, in DER. Empty where OpenSSL already
/// knows their file.
[[nodiscard]] std::vector<std::string> system_authorities();

}  // namespace redlock::detail::platform

#endif
