#ifndef REDLOCK_SRC_WIRE_TLS_CONNECTION_HPP
#define REDLOCK_SRC_WIRE_TLS_CONNECTION_HPP

#include "wire/connection.hpp"

#include <memory>

namespace redlock::detail {

/// Like `make_connection`, but over TLS. If the library was built without TLS, no context exists
/// that could be passed.
[[nodiscard]] std::unique_ptr<connection> make_tls_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
);

/// Whether a TLS connection that ends with this error may have met a server without TLS.
[[nodiscard]] bool looks_like_no_tls(const error_code& why);

}  // namespace redlock::detail

#endif
