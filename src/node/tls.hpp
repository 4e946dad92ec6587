#ifndef REDLOCK_SRC_NODE_TLS_HPP
#define REDLOCK_SRC_NODE_TLS_HPP

#include <redlock/config.hpp>

#include <boost/asio/ssl/context.hpp>

#include <string>

namespace redlock::detail {

/// What a node's TLS settings make of the files they name.
struct tls_context
{
    boost::asio::ssl::context context;
    std::string failure;  ///< What is wrong with the files. Empty: nothing.
};

/// Reads the files again at each call, so that renewed certificates are used after a reconnection.
[[nodiscard]] tls_context make_tls_context(const node_config& config);

/// Whether `host` is a name, and not an address: only names are sent for SNI.
[[nodiscard]] bool is_host_name(const std::string& host);

}  // namespace redlock::detail

#endif
