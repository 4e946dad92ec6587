#ifndef REDLOCK_SRC_NODE_VETTING_HPP
#define REDLOCK_SRC_NODE_VETTING_HPP

#include <redlock/config.hpp>

#include "node/guard.hpp"

#include <boost/redis/request.hpp>

#include <string>
#include <vector>

/// What is asked on a new connection, before it is used.
namespace redlock::detail {

/// The first commands: log in, choose the database, load the scripts, ask who the server is.
/// @param guarded Null in plain mode.
[[nodiscard]] boost::redis::request make_vetting_request(
    const node_config& config,
    const guard* guarded
);

/// A server's error to the first commands, as it may be shown: it may quote the login.
[[nodiscard]] std::string without_login(const std::string& error, const node_config& config);

/// Asks for what makes a server durable.
[[nodiscard]] boost::redis::request make_settings_request();

/// @param told Names and values in turn. An error instead of them is not durable either.
[[nodiscard]] bool is_durable(const std::vector<std::string>& told);

}  // namespace redlock::detail

#endif
