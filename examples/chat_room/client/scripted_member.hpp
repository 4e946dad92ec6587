#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_SCRIPTED_MEMBER_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_SCRIPTED_MEMBER_HPP

#include "chat_room/client/connection.hpp"
#include "chat_room/event.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace chat {

/// What a member heard.
struct heard
{
    std::uint64_t seq = 0;
    std::string id;
    std::string name;
    std::string text;
    std::uint64_t fence = 0;
};

/// A coordinator that a member has heard of.
struct known_coordinator
{
    std::string server;
    std::uint64_t fence = 0;
    std::chrono::steady_clock::time_point at;  ///< When it heard.
};

/** A member that a program controls, and that remembers what it hears.

    It works like the page: it keeps what it says until it hears it, reconnects by itself, and then
    repeats what it hasn't heard, with the same ids. It tries one server after the other until one
    answers. If the store loses its data, it forgets what it heard.

    The object must outlive its coroutine: `stop()` it, and run the context until `is_done()`.
*/
class scripted_member
{
public:
    /// @param ports Of servers on this machine, the preferred one first.
    scripted_member(
        asio::any_io_executor executor,
        std::vector<std::uint16_t> ports,
        std::string room,
        std::string name
    );
    scripted_member(const scripted_member&) = delete;
    scripted_member& operator=(const scripted_member&) = delete;

    void start();
    void stop();
    [[nodiscard]] bool is_done() const noexcept { return !running_; }

    /// Says something as soon as there is a connection.
    void say(std::string text);

    /// Whether it has joined and its connection is fine, as far as it knows.
    [[nodiscard]] bool is_joined() const noexcept { return joined_; }

    [[nodiscard]] const std::vector<heard>& all() const noexcept { return heard_; }

    /// How many of its own messages it has not heard yet.
    [[nodiscard]] std::size_t unheard() const noexcept { return kept_.size(); }

    /// The coordinators it has heard of, in order, and when it first did.
    [[nodiscard]] const std::vector<known_coordinator>& coordinators() const noexcept
    {
        return coordinators_;
    }

    /// The last status that it received, as JSON.
    [[nodiscard]] const std::string& status() const noexcept { return status_; }

    /// How often a connection was lost.
    [[nodiscard]] std::size_t reconnections() const noexcept { return reconnections_; }

    /// Why the last connection ended.
    [[nodiscard]] const std::string& last_end() const noexcept { return last_end_; }

    /// Called for each message that is heard.
    std::function<void(const heard&)> on_message;

    /// Called for each status, with its JSON.
    std::function<void(const std::string&)> on_status;

    /// Called for each new coordinator, each that hands over, and each write that was refused.
    std::function<void(const boost::json::object&)> on_event;

private:
    struct kept
    {
        std::string id;
        std::string text;
        bool sent = false;  ///< On this connection, and not refused.
    };

    asio::awaitable<void> run();
    asio::awaitable<void> live(connection& with);
    asio::awaitable<void> listen(connection& from);
    asio::awaitable<void> talk(connection& to);
    void take(const std::string& frame);
    void start_over();
    void take_coordinator(const boost::json::object& told);

    asio::any_io_executor executor_;
    std::vector<std::uint16_t> ports_;
    std::string room_;
    std::string name_;
    event wake_;
    event pause_;
    asio::cancellation_signal cancel_;
    std::vector<heard> heard_;
    std::vector<kept> kept_;
    std::vector<known_coordinator> coordinators_;
    std::string status_;
    std::string last_end_;
    std::uint64_t began_ = 0;  ///< When its log began. 0: not known yet.
    std::size_t reconnections_ = 0;
    bool joined_ = false;
    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace chat

#endif
