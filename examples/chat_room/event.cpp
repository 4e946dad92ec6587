#include "chat_room/event.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace chat {

void event::set()
{
    set_ = true;
    timer_.cancel();
}

asio::awaitable<bool> event::wait(std::chrono::milliseconds limit)
{
    if (!set_)
    {
        timer_.expires_after(limit);
        co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_return std::exchange(set_, false);
}

asio::awaitable<void> event::wait()
{
    bool came = false;
    while (!came)
        came = co_await wait(std::chrono::hours(1));
}

}  // namespace chat
