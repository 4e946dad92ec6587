#ifndef REDLOCK_TEST_SUPPORT_HTTP_CLIENT_HPP
#define REDLOCK_TEST_SUPPORT_HTTP_CLIENT_HPP

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

namespace redlock::test {

struct http_reply
{
    unsigned status = 0;
    std::string body{};
    std::string retry_after{};  ///< These are header fields, empty if missing.
    std::string allow{};
};

/// Returns the text of a request. The server closes the connection after its reply.
[[nodiscard]] std::string http_text(
    const std::string& method,
    const std::string& target,
    const std::string& body = {}
);

/// Sends bytes, which need not be a request, to a port of this machine on a connection of its own.
/// Throws if no reply comes within 30 s.
boost::asio::awaitable<http_reply> exchange_http(std::uint16_t port, std::string bytes);

}  // namespace redlock::test

#endif
