#include "node/redis_config.hpp"

#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// No reply of ours is longer than a line, so a server that sends more is not a Redis.
constexpr std::size_t max_read_size = 1U << 20;

/// Bytes read at a time: the replies to some 200 commands. Boost.Redis zeroes them for each read.
constexpr std::size_t read_size = 1024;

}  // namespace

boost::redis::config make_redis_config(const node_config& node, milliseconds step_timeout)
{
    boost::redis::config result;
    result.addr.host = node.host;
    result.addr.port = std::to_string(node.port);
    result.unix_socket = node.unix_socket;
    result.use_ssl = node.tls.has_value();
    // The vetting request does what the setup request of Boost.Redis would do, but lets us see what
    // the server answers.
    result.use_setup = true;
    result.setup = boost::redis::request();
    result.resolve_timeout = step_timeout;
    result.connect_timeout = step_timeout;
    result.ssl_handshake_timeout = step_timeout;
    // Ours is cheaper: that of Boost.Redis sets a timer for every read and every write. And only
    // reads without one are taken for replies, see run_queue_timer.hpp.
    result.health_check_interval = 0s;
    result.reconnect_wait_interval = 0s;  // Ours is a new link.
    result.read_buffer_append_size = read_size;
    result.max_read_size = max_read_size;
    return result;
}

}  // namespace redlock::detail
