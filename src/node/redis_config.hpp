#ifndef REDLOCK_SRC_NODE_REDIS_CONFIG_HPP
#define REDLOCK_SRC_NODE_REDIS_CONFIG_HPP

#include <redlock/config.hpp>

#include <boost/redis/config.hpp>

namespace redlock::detail {

/// How Boost.Redis connects to a node: once, without greeting it, and without looking after it.
/// @param step_timeout Of each step: resolving the name, connecting, the TLS handshake.
[[nodiscard]] boost::redis::config make_redis_config(
    const node_config& node,
    milliseconds step_timeout
);

}  // namespace redlock::detail

#endif
