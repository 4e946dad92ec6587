#include "node/link_group.hpp"

#include "node/commands.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

link_group make_link_group(const client_config& config)
{
    link_group group;
    if (auto guarded = make_guard(config))
        group.guarded = std::make_shared<guard>(std::move(*guarded));
    group.servers = std::make_shared<core::incarnations>(config.nodes.size());
    // A node of a cluster wants all keys of a command in one slot, and plain mode puts them into
    // any.
    const bool single_keys = config.mode == mode::plain &&
                             std::ranges::any_of(config.nodes, &node_config::accept_cluster);
    group.encoder = std::make_shared<command_encoder>(group.guarded, single_keys);
    group.tls = make_tls_sources(config.nodes);
    return group;
}

}  // namespace redlock::detail
