#include "support/http_client.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>

namespace redlock::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

std::string http_text(const std::string& method, const std::string& target, const std::string& body)
{
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

asio::awaitable<http_reply> exchange_http(std::uint16_t port, std::string bytes)
{
    beast::tcp_stream stream(co_await asio::this_coro::executor);
    stream.expires_after(std::chrono::seconds(30));
    const asio::ip::tcp::endpoint server(asio::ip::address_v4::loopback(), port);
    co_await stream.async_connect(server);
    co_await asio::async_write(stream, asio::buffer(bytes));

    beast::flat_buffer buffer;
    http::response<http::string_body> reply;
    co_await http::async_read(stream, buffer, reply);
    co_return http_reply{
        .status = reply.result_int(),
        .body = reply.body(),
        .retry_after = reply[http::field::retry_after],
        .allow = reply[http::field::allow],
    };
}

}  // namespace redlock::test
