#ifndef REDLOCK_SRC_WIRE_TLS_CONNECTION_HPP
#define REDLOCK_SRC_WIRE_TLS_CONNECTION_HPP

#include "wire/connection.hpp"

#include <memory>

namespace redlock::detail {

/// As `make_connection`, over TLS. Where the library was built without it, there is no context that
/// could be given.
[[nodiscard]] std::unique_ptr<connection> make_tls_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
);

/// Whether a TLS connection that ends so may have met a server that speaks none.
[[nodiscard]] bool looks_like_no_tls(const error_code& why);

}  // namespace redlock::detail

#endif
