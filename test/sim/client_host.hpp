#ifndef REDLOCK_TEST_SIM_CLIENT_HOST_HPP
#define REDLOCK_TEST_SIM_CLIENT_HOST_HPP

#include <redlock/client.hpp>

#include "node/guard.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/network.hpp"
#include "sim/process.hpp"

namespace redlock::sim {

/// The shipped client in a simulated process: all of it but its clocks and its sockets.
/// @param nodes Of the network, in the order of the configuration.
/// @param guarded What it adds to commands, if that is not what clients of this version add.
[[nodiscard]] redlock::client make_client(
    const boost::asio::any_io_executor& executor,
    network& over,
    process& in,
    unsigned index,
    const std::vector<std::size_t>& nodes,
    client_config config,
    std::shared_ptr<const detail::guard> guarded = nullptr
);

}  // namespace redlock::sim

#endif
