#ifndef REDLOCK_TEST_SUPPORT_RESP_CLIENT_HPP
#define REDLOCK_TEST_SUPPORT_RESP_CLIENT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/posix.hpp"

namespace redlock::test {

/** A blocking Redis client on one connection, independent of the library under test.

    Every call ends within the deadline. A call that fails to get its reply throws
    `std::system_error` and closes the connection, so that no late reply is taken for another one.
*/
class resp_client
{
public:
    /// Connects to a port of 127.0.0.1. `deadline` bounds this and each later call.
    explicit resp_client(
        std::uint16_t port,
        std::chrono::milliseconds deadline = std::chrono::seconds(2)
    );

    /// Connects to a unix socket.
    explicit resp_client(
        const std::filesystem::path& socket,
        std::chrono::milliseconds deadline = std::chrono::seconds(2)
    );

    /** Sends one command and returns its reply as `redis-cli` would show it.

        `OK`, `(nil)`, `(integer) 1`, `-NOAUTH …`, the text of a string, the elements of an array
        on a line each, `(empty array)`.
    */
    std::string command(const std::vector<std::string>& arguments);

    /// Returns the value of a key, empty if there is none. Throws the error that the server sent.
    std::optional<std::string> get(const std::string& key);

    bool exists(const std::string& key);

    /// Returns the milliseconds left, -1 for a key that does not expire and -2 for no such key.
    long pttl(const std::string& key);

private:
    enum class kind;
    struct reply;

    reply call(const std::vector<std::string>& arguments);
    reply call_or_throw(const std::vector<std::string>& arguments);
    reply read_reply(deadline_point deadline);
    std::string read_line(deadline_point deadline);
    std::string read_bytes(std::size_t count, deadline_point deadline);
    void read_some(deadline_point deadline);
    void write(std::string_view bytes, deadline_point deadline);

    static std::string render(const reply& from);

    descriptor socket_;
    std::chrono::milliseconds deadline_;
    std::string received_;
};

/// Whether nobody listens on the port.
[[nodiscard]] bool is_refused(std::uint16_t port);

}  // namespace redlock::test

#endif
