#ifndef REDLOCK_EXAMPLES_STOCK_SERVICE_HTTP_SERVER_HPP
#define REDLOCK_EXAMPLES_STOCK_SERVICE_HTTP_SERVER_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <set>

namespace stock_service {

using request = boost::beast::http::request<boost::beast::http::string_body>;
using response = boost::beast::http::response<boost::beast::http::string_body>;

/// Answers requests. Must not throw.
using request_handler = std::function<boost::asio::awaitable<response>(request)>;

/// The reply to input that isn't a valid request.
using error_handler = std::function<response(boost::beast::http::status, const char* message)>;

struct http_limits
{
    std::uint32_t header_bytes = 8 * 1024;
    std::uint64_t body_bytes = 4 * 1024;
    std::chrono::seconds read{15};  ///< From the end of one request to that of the next.
    std::chrono::seconds write{10};
};

/** Serves HTTP on a port of the loopback interface.

    For an `io_context` that one thread runs. The object must outlive `serve()`.
*/
class http_server
{
public:
    /// Listens. @param port Zero: any free port.
    http_server(
        const boost::asio::any_io_executor& executor,
        std::uint16_t port,
        request_handler handler,
        error_handler on_error
    );

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// Completes after `stop()`, when the last request has been answered.
    boost::asio::awaitable<void> serve();

    /// Takes no more connections and requests, but answers those it has.
    void stop();

private:
    using stream = boost::beast::tcp_stream;

    boost::asio::awaitable<void> talk(boost::asio::ip::tcp::socket socket);
    boost::asio::awaitable<bool> answer_one(stream& peer, boost::beast::flat_buffer& buffer);

    boost::asio::ip::tcp::acceptor acceptor_;
    request_handler handler_;
    error_handler on_error_;
    http_limits limits_;
    bool stopping_ = false;
    std::size_t connections_ = 0;
    std::set<stream*> reading_;                   ///< Those that `stop()` needn't wait for.
    boost::asio::steady_timer connection_ended_;  ///< Never expires. Cancelled whenever one ends.
};

}  // namespace stock_service

#endif
