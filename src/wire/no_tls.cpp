// Replaces the files that need OpenSSL. Every node that wants TLS is refused.

#include "wire/tls_connection.hpp"
#include "wire/tls_context.hpp"

#include <stdexcept>

namespace redlock::detail {

std::vector<std::shared_ptr<tls_source>> make_tls_sources(const std::vector<node_config>& nodes)
{
    for (const node_config& node : nodes)
    {
        if (node.tls)
            throw std::invalid_argument(
                "redlock: node '" + node.name() +
                "': this library was built without TLS (REDLOCK_TLS=OFF); don't use rediss:// or "
                "valkeys://, and leave node_config::tls empty"
            );
    }
    return std::vector<std::shared_ptr<tls_source>>(nodes.size());
}

// There is no TLS source, so neither of these is ever called.

std::shared_ptr<tls_context> tls_source::latest()
{
    return nullptr;
}

std::unique_ptr<connection> make_tls_connection(
    const ground& /*on*/,
    std::shared_ptr<tls_context> /*tls*/,
    const node_config& /*config*/,
    std::shared_ptr<name_lookup> /*names*/
)
{
    return nullptr;
}

bool looks_like_no_tls(const error_code&)
{
    return false;
}

}  // namespace redlock::detail
