#include "chat_room/client/connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <utility>

namespace chat {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;

namespace {

/// For everything but waiting for a frame.
constexpr std::chrono::milliseconds patience{5000};

constexpr unsigned closed_without_a_word = 1006;

constexpr auto patiently = [](std::chrono::milliseconds limit) {
    return asio::cancel_after(limit, asio::as_tuple(asio::use_awaitable));
};

}  // namespace

struct connection::impl
{
    explicit impl(const asio::any_io_executor& executor) : socket(executor) {}

    void check(const boost::system::error_code& ec) const
    {
        if (ec == websocket::error::closed)
        {
            const websocket::close_reason& told = socket.reason();
            throw connection_closed(told.code, std::string(told.reason.c_str()));
        }
        if (ec)
            throw connection_closed(closed_without_a_word, ec.message());
    }

    websocket::stream<beast::tcp_stream> socket;
};

connection::connection(const asio::any_io_executor& executor)
    : impl_(std::make_unique<impl>(executor))
{
}

connection::~connection() = default;

asio::awaitable<void> connection::open(std::uint16_t port, std::string origin)
{
    const tcp::endpoint server(asio::ip::address_v4::loopback(), port);
    auto& socket = impl_->socket;
    auto connected = co_await socket.next_layer().async_connect(server, patiently(patience));
    impl_->check(std::get<0>(connected));
    socket.next_layer().socket().set_option(tcp::no_delay(true));
    socket.set_option(websocket::stream_base::decorator([origin](websocket::request_type& asked) {
        if (!origin.empty())
            asked.set(http::field::origin, origin);
    }));
    const std::string host = "127.0.0.1:" + std::to_string(port);
    auto accepted = co_await socket.async_handshake(host, "/ws", patiently(patience));
    impl_->check(std::get<0>(accepted));
}

asio::awaitable<void> connection::send(std::string text)
{
    impl_->socket.text(true);
    auto sent = co_await impl_->socket.async_write(asio::buffer(text), patiently(patience));
    impl_->check(std::get<0>(sent));
}

asio::awaitable<void> connection::send_binary(std::string bytes)
{
    impl_->socket.binary(true);
    auto sent = co_await impl_->socket.async_write(asio::buffer(bytes), patiently(patience));
    impl_->check(std::get<0>(sent));
}

asio::awaitable<std::string> connection::receive(std::chrono::milliseconds limit)
{
    beast::flat_buffer buffer;
    auto received = co_await impl_->socket.async_read(buffer, patiently(limit));
    impl_->check(std::get<0>(received));
    co_return beast::buffers_to_string(buffer.data());
}

asio::awaitable<void> connection::close()
{
    co_await impl_->socket.async_close(websocket::close_code::normal, patiently(patience));
}

}  // namespace chat
