#ifndef REDLOCK_SRC_NODE_REDIS_NODE_HPP
#define REDLOCK_SRC_NODE_REDIS_NODE_HPP

#include <redlock/config.hpp>

#include "node/node.hpp"
#include "node/strand.hpp"
#include "node/turn.hpp"

#include <memory>
#include <vector>

namespace redlock::detail {

/// Nodes that are real Redis or Valkey servers, in the order of the configuration.
[[nodiscard]] std::vector<std::shared_ptr<node>> make_redis_nodes(
    const strand_type& strand,
    const std::shared_ptr<turn>& end_of_turn,
    const client_config& config
);

}  // namespace redlock::detail

#endif
