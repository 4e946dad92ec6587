#ifndef REDLOCK_SRC_NODE_STREAM_SETTINGS_HPP
#define REDLOCK_SRC_NODE_STREAM_SETTINGS_HPP

#include <redlock/config.hpp>

#include "node/tls.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <openssl/ssl.h>

/// What is set on the stream under a connection of Boost.Redis, which has no way of its own for it.
namespace redlock::detail {

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
/// The stream itself, of TLS also where that is not used. Boost.Redis is about to hide it. Only for
/// the functions below.
template <class Connection>
auto& stream_of(Connection& connection)
{
    return connection.next_layer();
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/// Tells a TLS server which name we called (SNI), so that it can choose its certificate.
template <class Connection>
void set_server_name(Connection& connection, const node_config& config)
{
    if (config.tls && is_host_name(config.host))
        ::SSL_set_tlsext_host_name(stream_of(connection).native_handle(), config.host.c_str());
}

/// Boost.Redis leaves Nagle's algorithm on, which costs 40 ms whenever two small writes meet.
/// @param connection Is connected.
template <class Connection>
void send_without_delay(Connection& connection, const node_config& config)
{
    boost::system::error_code ignored;
    if (config.unix_socket.empty())
        stream_of(connection).next_layer().set_option(
            boost::asio::ip::tcp::no_delay(true), ignored
        );
}

}  // namespace redlock::detail

#endif
