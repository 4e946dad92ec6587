#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_HTTP_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_HTTP_HPP

#include "chat_room/rooms.hpp"
#include "chat_room/session.hpp"
#include "chat_room/surroundings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <list>
#include <memory>

namespace chat {

/// Accepts connections: serves the page, health and metrics, and hands WebSockets to sessions.
class http_server
{
public:
    /// Listens. @throws std::runtime_error if it can't listen there.
    http_server(surroundings with, rooms& all, asio::any_io_executor executor);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    [[nodiscard]] asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    void start();

    /// Says good-bye to everyone. `end()` closes the connections that are left.
    void stop();
    void end();

    [[nodiscard]] bool is_done() const noexcept { return stopped_ && open_.empty(); }

private:
    struct connection
    {
        asio::cancellation_signal cancel;
        std::shared_ptr<session> behind;  ///< Null: not a WebSocket.
        bool ending = false;              ///< Was told to end.

        [[nodiscard]] bool waits() const { return !ending && (!behind || !behind->has_joined()); }
    };
    using connections = std::list<connection>;

    asio::awaitable<void> accept();
    void serve(asio::ip::tcp::socket accepted);
    void make_room();
    asio::awaitable<void> talk(asio::ip::tcp::socket accepted, connections::iterator entry);

    surroundings with_;
    rooms& rooms_;
    asio::any_io_executor executor_;
    asio::ip::tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    connections open_;
    bool stopped_ = false;
};

}  // namespace chat

#endif
