#ifndef REDLOCK_TEST_SUPPORT_GUARDED_NODES_HPP
#define REDLOCK_TEST_SUPPORT_GUARDED_NODES_HPP

#include <redlock/config.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "support/client_runner.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

/// As `config_for`, in guarded mode and with a short quarantine.
[[nodiscard]] inline client_config guarded_config(const std::vector<std::string>& urls)
{
    client_config config = config_for(urls);
    config.mode = mode::guarded;
    config.ttl_max = std::chrono::seconds(1);
    config.node_timeout = std::chrono::milliseconds(500);
    return config;
}

[[nodiscard]] inline client_config guarded_config(const redis_servers& servers)
{
    return guarded_config(servers.urls());
}

inline constexpr const char* marker_key = "redlock:marker";

[[nodiscard]] inline bool is_marked(const redis_server& server)
{
    return server.command({"EXISTS", marker_key}) == "(integer) 1";
}

}  // namespace redlock::test

#endif
