#ifndef REDLOCK_SRC_NODE_LINK_GROUP_HPP
#define REDLOCK_SRC_NODE_LINK_GROUP_HPP

#include <redlock/config.hpp>

#include "core/incarnations.hpp"
#include "node/guard.hpp"
#include "node/sentinels.hpp"
#include "wire/tls_context.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class command_encoder;
class passed_entries;

/// Shared by the links of a client.
struct link_group
{
    std::string name;                      ///< `client_config::name`.
    std::shared_ptr<const guard> guarded;  ///< Null in plain mode.
    std::shared_ptr<core::incarnations> servers;
    std::shared_ptr<passed_entries> passed;

    /// Turns questions into commands, once for all nodes.
    std::shared_ptr<command_encoder> encoder;

    /// For each node, null without TLS.
    std::vector<std::shared_ptr<tls_source>> tls;

    /// For each node, null without Sentinels.
    std::vector<std::shared_ptr<sentinel_group>> sentinels;

    /// How many replicas an entry's server has, as its Sentinels last said.
    [[nodiscard]] std::optional<unsigned> known_replicas(std::size_t index) const
    {
        const auto& told = sentinels[index];
        return told ? told->replicas : std::nullopt;
    }

    /// If not empty, only look whether the nodes are marked, leave this seal on them, and admit
    /// none. For `async_initialize_nodes`.
    std::string seal{};
};

/// Reads the files that TLS needs, so don't call it in a handler.
[[nodiscard]] link_group make_link_group(const client_config& config);

}  // namespace redlock::detail

#endif
