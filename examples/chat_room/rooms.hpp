#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_ROOMS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_ROOMS_HPP

#include "chat_room/event.hpp"
#include "chat_room/history.hpp"
#include "chat_room/protocol.hpp"
#include "chat_room/room.hpp"
#include "chat_room/surroundings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace chat {

/// The rooms that have members on this server.
class rooms
{
public:
    rooms(surroundings with, asio::any_io_executor executor);
    rooms(const rooms&) = delete;
    rooms& operator=(const rooms&) = delete;

    /// Keeps the rooms up to date, until `stop()`.
    void start();

    /// Hands over what this server coordinates. No room can be joined any more.
    void stop();

    /// Whether all is handed over.
    [[nodiscard]] bool is_done() const noexcept { return stopped_ && running_ == 0; }

    struct joined
    {
        std::shared_ptr<chat::room> room;
        room_status status;
    };

    /// Makes `who` a member of a room. @throws refusal, store_failure
    asio::awaitable<joined> join(join_request what, member& who);

    void leave(chat::room& left, member& who);

    /// Where members get what was said before.
    [[nodiscard]] history& past() noexcept { return past_; }

    /// Sends a status to the members soon.
    void on_store_change() { status_due_.set(); }

    /// Tries to wake the reader of news, because it should look at other streams.
    void look_again();

private:
    asio::awaitable<void> follow();
    asio::awaitable<void> follow_once();
    asio::awaitable<void> tell_status();
    asio::awaitable<void> tell_status_once();
    [[nodiscard]] std::vector<told_node> look_at_nodes();
    std::shared_ptr<chat::room> open(
        const std::string& name,
        const room_status& status,
        const std::vector<coordinator_entry>& coordinators
    );
    void start_over(const std::shared_ptr<chat::room>& lost);
    void check_limits(const join_request& what) const;
    void close_empty();
    [[nodiscard]] std::size_t members_of(const std::string& name) const;
    void count();

    struct occupied
    {
        std::shared_ptr<chat::room> room;
        unsigned empty_for = 0;  ///< Rounds of status in which it had no members.
    };

    surroundings with_;
    asio::any_io_executor executor_;
    history past_;
    std::map<std::string, occupied> rooms_;
    std::map<std::string, std::chrono::steady_clock::time_point> quarantined_;  ///< Since when.
    std::size_t members_ = 0;
    std::size_t running_ = 0;  ///< Coroutines.
    event status_due_;
    event first_room_;
    bool stopped_ = false;
};

}  // namespace chat

#endif
