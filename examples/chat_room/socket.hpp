#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_SOCKET_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_SOCKET_HPP

#include "chat_room/session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <memory>

namespace chat {

/// Accepts an upgrade to a WebSocket and moves frames between it and a session, until it ends.
asio::awaitable<void> serve_socket(
    boost::beast::tcp_stream stream,
    boost::beast::http::request<boost::beast::http::string_body> upgrade,
    std::shared_ptr<session> behind,
    surroundings with
);

}  // namespace chat

#endif
