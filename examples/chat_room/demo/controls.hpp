#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_CONTROLS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_CONTROLS_HPP

#include "chat_room/event.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <deque>
#include <list>
#include <string>

namespace chat {

class show;

/** The WebSocket through which a page breaks things in a show.

    It listens on loopback only, and accepts only pages of the show that know the secret. They can
    do no more than the actions of the show.
*/
class controls
{
public:
    explicit controls(const asio::any_io_executor& executor);
    controls(const controls&) = delete;
    controls& operator=(const controls&) = delete;

    /// `ws://127.0.0.1:PORT`.
    [[nodiscard]] std::string url() const;

    /// Random, a new one for each show.
    [[nodiscard]] const std::string& secret() const noexcept { return secret_; }

    void start(show& of);
    void stop();

private:
    struct guest
    {
        explicit guest(const asio::any_io_executor& executor) : wake(executor) {}

        std::deque<std::string> waiting;  ///< To be sent.
        event wake;
        asio::cancellation_signal cancel;
    };
    using guests = std::list<guest>;

    asio::awaitable<void> accept();
    asio::awaitable<void> talk(asio::ip::tcp::socket accepted, guests::iterator with);
    void take(guest& from, const std::string& frame);
    void send(guest& to, std::string frame);

    asio::any_io_executor executor_;
    asio::ip::tcp::acceptor acceptor_;
    std::string secret_;
    show* of_ = nullptr;
    guests guests_;
    bool stopped_ = false;
};

}  // namespace chat

#endif
