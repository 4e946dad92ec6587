#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_CONNECTION_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_CONNECTION_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace chat {

namespace asio = boost::asio;

/// The connection is over. The code is that of the WebSocket, 1006 if there was none.
class connection_closed : public std::runtime_error
{
public:
    connection_closed(unsigned code, const std::string& reason)
        : std::runtime_error("closed: " + std::to_string(code) + " " + reason), code_(code)
    {
    }

    [[nodiscard]] unsigned code() const noexcept { return code_; }

private:
    unsigned code_;
};

/// A WebSocket to a chat server on this machine, frame by frame. Every failure throws
/// `connection_closed`.
class connection
{
public:
    explicit connection(const asio::any_io_executor& executor);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    /// @param origin What a browser would send. Empty: nothing.
    asio::awaitable<void> open(std::uint16_t port, std::string origin = {});

    asio::awaitable<void> send(std::string text);
    asio::awaitable<void> send_binary(std::string bytes);

    /// Waits for a frame, for at most `limit`.
    asio::awaitable<std::string> receive(std::chrono::milliseconds limit);

    /// Says good-bye and waits for the answer.
    asio::awaitable<void> close();

private:
    struct impl;

    std::unique_ptr<impl> impl_;
};

}  // namespace chat

#endif
