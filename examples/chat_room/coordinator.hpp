#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_COORDINATOR_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_COORDINATOR_HPP

#include <redlock/lease.hpp>

#include "chat_room/event.hpp"
#include "chat_room/store.hpp"
#include "chat_room/surroundings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace chat {

/** Competes to be the coordinator of one room, and works as that while it leads.

    The coordinator takes what members have put into the room's inbox and appends it to the log. It
    sends its fencing token with each access, so it doesn't matter how late it acts: the room
    refuses it once a successor has been there.
*/
class coordinator
{
public:
    /// @param on_change Called when `is_in_charge` changes.
    coordinator(
        surroundings with,
        asio::any_io_executor executor,
        std::string room,
        std::function<void()> on_change
    );
    coordinator(const coordinator&) = delete;
    coordinator& operator=(const coordinator&) = delete;

    /// Competes until `stop()`. Then hands over if it is in charge, and returns.
    asio::awaitable<void> run();
    void stop();

    [[nodiscard]] bool is_in_charge() const noexcept { return in_charge_; }

    /// There is something in the inbox.
    void on_inbox() { inbox_.set(); }

private:
    asio::awaitable<void> be_in_charge(const redlock::lease& held);
    asio::awaitable<void> work(const redlock::lease& held);
    asio::awaitable<void> empty_inbox(const redlock::lease& held);
    asio::awaitable<void> hand_over(const redlock::lease& held);
    void complain(const std::exception& failure) const;
    [[nodiscard]] store::tenure tenure_of(const redlock::lease& held) const;
    void stall_if_told() const;
    void set_in_charge(bool now);

    surroundings with_;
    std::string room_;
    std::function<void()> on_change_;
    event inbox_;
    asio::cancellation_signal stop_;
    std::uint64_t extensions_ = 0;
    std::uint64_t number_ = 0;  ///< In the room.
    std::chrono::steady_clock::time_point accessed_;
    bool in_charge_ = false;
    bool stopped_ = false;
};

}  // namespace chat

#endif
