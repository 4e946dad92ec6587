#ifndef REDLOCK_EXAMPLES_DEMO_STAGE_HPP
#define REDLOCK_EXAMPLES_DEMO_STAGE_HPP

#include <redlock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>

#include "support/redis_server.hpp"

namespace demo {

namespace asio = boost::asio;

/// How long the leases of the story live, unless they are extended.
inline constexpr std::chrono::milliseconds lock_ttl{3000};

/** Five real servers, and two clients that know of each other only through them.

    In production the clients are two programs, and the servers run on five machines.
*/
struct stage
{
    /// Starts the servers, which takes a moment.
    explicit stage(const asio::any_io_executor& executor);

    redlock::test::redis_servers servers;
    std::string node_urls;  ///< The same list for all clients, as the algorithm requires.
    redlock::client_config config;
    redlock::client first;
    redlock::client second;
};

/// The configuration of all clients of the demo.
[[nodiscard]] redlock::client_config make_config(const std::string& node_urls);

/// Initializes the servers, which are new, and runs the clients.
asio::awaitable<void> set_up(stage& on);

/// Waits until a client is connected to all its nodes, for at most `limit`.
asio::awaitable<bool> all_ready(const redlock::client& locks, std::chrono::milliseconds limit);

/// What the servers keep for one resource.
struct stored_keys
{
    std::size_t count = 0;             ///< Nodes that have the key.
    std::string value;                 ///< The attempt id on the first of them.
    bool all_equal = true;             ///< Whether the others have the same.
    std::chrono::milliseconds ttl{0};  ///< How long the first of them keeps it.
};

/// Asks each running server directly, not through a client.
[[nodiscard]] stored_keys read_keys(redlock::test::redis_servers& servers, const std::string& key);

}  // namespace demo

#endif
