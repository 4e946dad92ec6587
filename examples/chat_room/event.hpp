#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_EVENT_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_EVENT_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <utility>

namespace chat {

namespace asio = boost::asio;

/// Wakes one coroutine. An event that comes while nobody waits is kept for the next wait.
class event
{
public:
    explicit event(asio::any_io_executor executor) : timer_(std::move(executor)) {}

    void set();

    /// Waits for the event, for at most `limit`. @return Whether it came.
    asio::awaitable<bool> wait(std::chrono::milliseconds limit);

    /// Waits for the event, for as long as it takes.
    asio::awaitable<void> wait();

private:
    asio::steady_timer timer_;
    bool set_ = false;
};

}  // namespace chat

#endif
