#ifndef REDLOCK_SRC_NODE_REDIS_NODE_HPP
#define REDLOCK_SRC_NODE_REDIS_NODE_HPP

#include <redlock/config.hpp>

#include "loop/ground.hpp"
#include "node/node.hpp"
#include "node/redis_link.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace redlock::detail {

/// Makes the link for each connection of a node.
using link_maker = std::function<std::shared_ptr<redis_link>()>;

/// A node that is a server, with links made by the caller.
/// @param index Position of the node in the configuration.
[[nodiscard]] std::shared_ptr<node> make_redis_node(
    const ground& on,
    link_maker make_link,
    std::size_t index,
    const client_config& config
);

/// Nodes that are real Redis or Valkey servers, in the order of the configuration.
[[nodiscard]] node_list make_redis_nodes(const ground& on, const client_config& config);

}  // namespace redlock::detail

#endif
