#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_STORE_LINK_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_STORE_LINK_HPP

#include <redlock/config.hpp>

#include "chat_room/store_replies.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace chat {

namespace asio = boost::asio;

/// A command to the store, word by word.
using command = std::vector<std::string>;

/// The command that runs a script.
command eval(
    const std::string& script,
    const std::vector<std::string>& keys,
    const std::vector<std::string>& arguments
);

/// A connection to the store that reconnects whenever it ends. Keeps Boost.Redis, which is slow to
/// compile, to one file.
class store_link
{
public:
    /// A command without an answer by then has failed.
    static constexpr std::chrono::milliseconds answer_timeout{1000};

    store_link(const asio::any_io_executor& executor, const redlock::node_config& where);
    ~store_link();

    [[nodiscard]] asio::any_io_executor get_executor();

    /// Connects, and connects again, until `stop()`.
    asio::awaitable<void> run();
    void stop();

    /// Sends commands in one write and waits for their replies. Not cancelled with the caller.
    /// Throws what is in store_errors.hpp.
    asio::awaitable<std::vector<reply>> ask(
        std::vector<command> commands,
        std::chrono::milliseconds limit = answer_timeout
    );

private:
    struct connection;

    std::unique_ptr<connection> connection_;
};

}  // namespace chat

#endif
