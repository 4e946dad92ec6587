#include "stock_service/http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace stock_service {

namespace {

bool is_of_http(const beast::error_code& ec)
{
    return ec.category() == make_error_code(http::error::bad_method).category() &&
           ec != http::error::end_of_stream && ec != http::error::partial_message;
}

http::status status_of(const beast::error_code& ec)
{
    if (ec == http::error::body_limit)
        return http::status::payload_too_large;
    if (ec == http::error::header_limit)
        return http::status::request_header_fields_too_large;
    return http::status::bad_request;
}

// Closing a socket with unread data makes the kernel drop what we have sent: read it first, within
// limits.
asio::awaitable<void> close(beast::tcp_stream& peer)
{
    beast::error_code ignored;
    peer.socket().shutdown(tcp::socket::shutdown_send, ignored);
    peer.expires_after(1s);
    std::array<char, 4096> rest{};
    for (int reads = 0; reads < 256; ++reads)
    {
        auto outcome = co_await peer.async_read_some(asio::buffer(rest), asio::as_tuple);
        if (std::get<0>(outcome))
            break;
    }
}

}  // namespace

http_server::http_server(
    const asio::any_io_executor& executor,
    std::uint16_t port,
    request_handler handler,
    error_handler on_error
)
    : acceptor_(executor, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
      handler_(std::move(handler)),
      on_error_(std::move(on_error)),
      connection_ended_(executor, asio::steady_timer::time_point::max())
{
}

asio::awaitable<void> http_server::serve()
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    while (!stopping_)
    {
        auto outcome = co_await acceptor_.async_accept(asio::as_tuple);
        auto& [ec, socket] = outcome;
        if (ec && !stopping_)  // Out of descriptors, for example. It passes.
        {
            pause.expires_after(100ms);
            co_await pause.async_wait();
        }
        if (ec || stopping_)
            continue;
        ++connections_;
        const auto at_end = [this](const std::exception_ptr&) {
            --connections_;
            connection_ended_.cancel();
        };
        asio::co_spawn(executor, talk(std::move(socket)), at_end);
    }
    while (connections_ > 0)
        co_await connection_ended_.async_wait(asio::as_tuple);
}

void http_server::stop()
{
    stopping_ = true;
    acceptor_.close();
    for (stream* const peer : reading_)
        peer->close();
}

asio::awaitable<void> http_server::talk(tcp::socket socket)
{
    stream peer(std::move(socket));
    beast::flat_buffer buffer;
    while (co_await answer_one(peer, buffer))
        continue;
    if (!stopping_)
        co_await close(peer);
}

// Returns whether there may be another request.
asio::awaitable<bool> http_server::answer_one(stream& peer, beast::flat_buffer& buffer)
{
    http::request_parser<http::string_body> parser;
    parser.header_limit(limits_.header_bytes);
    parser.body_limit(limits_.body_bytes);
    peer.expires_after(limits_.read);
    reading_.insert(&peer);
    auto outcome = co_await http::async_read(peer, buffer, parser, asio::as_tuple);
    reading_.erase(&peer);
    const beast::error_code ec = std::get<0>(outcome);
    if (ec && !is_of_http(ec))
        co_return false;  // The peer is gone, or has nothing to say.

    response reply;
    bool more = false;
    if (ec)
    {
        reply = on_error_(status_of(ec), ec.message().c_str());
    }
    else
    {
        more = parser.get().keep_alive();
        reply = co_await handler_(parser.release());
    }
    more = more && !stopping_;
    reply.keep_alive(more);
    reply.prepare_payload();
    peer.expires_after(limits_.write);
    auto written = co_await http::async_write(peer, reply, asio::as_tuple);
    co_return more && !std::get<0>(written);
}

}  // namespace stock_service
