#ifndef REDLOCK_TEST_SIM_CLIENT_HOST_HPP
#define REDLOCK_TEST_SIM_CLIENT_HOST_HPP

#include <redlock/client.hpp>

#include "node/verbs.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <vector>

#include "sim/network.hpp"
#include "sim/process.hpp"

namespace redlock::sim {

/// The shipped client in a simulated process: all of it but its clocks and its sockets.
/// @param nodes Of the network, in the order of the configuration.
/// @param scripts Null: those of this version.
[[nodiscard]] redlock::client make_client(
    const boost::asio::any_io_executor& executor,
    network& over,
    process& in,
    unsigned index,
    const std::vector<std::size_t>& nodes,
    client_config config,
    const detail::script_set* scripts
);

}  // namespace redlock::sim

#endif
