#ifndef REDLOCK_SRC_NODE_TLS_HPP
#define REDLOCK_SRC_NODE_TLS_HPP

#include <redlock/config.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <string>

namespace redlock::detail {

/// What a node's TLS settings make of the files they name.
struct tls_context
{
    boost::asio::ssl::context context;
    std::string failure;  ///< What is wrong with the files. Empty: nothing.
};

/// For a node with TLS. Reads the files again at each call, so that renewed certificates are used
/// after a reconnection.
[[nodiscard]] tls_context make_tls_context(const node_config& config);

/// Whether `host` is a name, and not an address: only names are sent for SNI.
[[nodiscard]] bool is_host_name(const std::string& host);

/// What else may be behind the loss of a connection that brought no reply: one side speaks TLS, and
/// the other does not. Empty: not that.
[[nodiscard]] std::string guess_about_tls(
    const node_config& config,
    const boost::system::error_code& why
);

}  // namespace redlock::detail

#endif
