#ifndef REDLOCK_SRC_NODE_REDIS_NODE_HPP
#define REDLOCK_SRC_NODE_REDIS_NODE_HPP

#include <redlock/config.hpp>

#include "node/node.hpp"
#include "node/strand.hpp"
#include "node/turn.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace redlock::detail {

/// A node that is a real Redis or Valkey server.
/// @param index Position of the node in the configuration, handed to `question::on_reply`.
[[nodiscard]] std::shared_ptr<node> make_redis_node(
    const strand_type& strand,
    std::shared_ptr<turn> end_of_turn,
    std::size_t index,
    const node_config& config,
    std::function<void(log_level, std::string_view)> log
);

}  // namespace redlock::detail

#endif
