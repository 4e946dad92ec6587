#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_SESSION_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_SESSION_HPP

#include "chat_room/event.hpp"
#include "chat_room/history.hpp"
#include "chat_room/protocol.hpp"
#include "chat_room/rooms.hpp"
#include "chat_room/surroundings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace chat {

/// Spends from an allowance that grows with time.
class allowance
{
public:
    explicit allowance(talking_rate rate) : rate_(rate), left_(rate.burst) {}

    /// @return Whether there was something left to spend.
    [[nodiscard]] bool spend();

private:
    talking_rate rate_;
    double left_;
    std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

/** One WebSocket, and the member behind it. Everything but the stream itself.

    Messages are not queued here: the writer asks for the next frame when the last one is written,
    and the log of the room keeps what a slow member still needs. At most one page of it is here.
*/
class session final : public member, public history_reader
{
public:
    session(surroundings with, rooms& all, asio::any_io_executor executor);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() override;

    /// Does what the client asks for. Waits while too many answers are unread.
    asio::awaitable<void> on_text(std::string text);

    /// Answers what is not a text frame.
    asio::awaitable<void> on_binary();

    /// Waits for the next frame. Null: close the connection, see `close_reason`.
    asio::awaitable<frame> next();

    /// Ends the session: the next frame is the last one.
    void close(unsigned code, std::string reason);

    [[nodiscard]] bool has_joined() const noexcept { return room_ != nullptr; }

    [[nodiscard]] unsigned close_code() const noexcept { return close_code_; }
    [[nodiscard]] const std::string& close_reason() const noexcept { return close_reason_; }

    void on_messages() override { wake_.set(); }
    void on_event(frame what) override;
    void on_status(frame what) override;
    void on_lost() override;
    void on_page(std::vector<message> page) override;

private:
    asio::awaitable<void> handle(join_request what);
    asio::awaitable<void> handle(say_request what);
    asio::awaitable<void> handle(older_request what);
    asio::awaitable<void> wait_for_reader();
    void refuse(const refusal& what);
    frame next_message();
    frame next_of_page();

    surroundings with_;
    rooms& rooms_;
    allowance allowance_;
    std::shared_ptr<room> room_;  ///< Null: not joined.
    std::string name_;
    std::uint64_t delivered_ = 0;  ///< Sequence number of the last message that was given out.
    std::uint64_t past_ = 0;       ///< Sequence number of the last message before it joined.
    bool may_skip_ = true;         ///< The log may have forgotten what came before its first.
    std::deque<message> page_;     ///< Read from the log, to be given out next.
    bool asked_ = false;           ///< For the next page.
    std::deque<frame> answers_;
    frame status_;
    event wake_;     ///< There may be something to give out.
    event drained_;  ///< An answer was given out.
    std::chrono::steady_clock::time_point join_by_;
    unsigned close_code_ = 0;  ///< 0: open.
    std::string close_reason_;
};

}  // namespace chat

#endif
