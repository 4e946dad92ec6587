#include "chaos/mode.hpp"

#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <stdexcept>

namespace redlock::test {

void protect(client_config& config, const protection& how)
{
    if (how.mode != "plain" && how.mode != "guarded")
        throw std::invalid_argument("no such mode: " + how.mode);
    config.mode = how.mode == "plain" ? mode::plain : mode::guarded;
    config.ttl_max = how.ttl_max;
    for (node_config& node : config.nodes)
        node.durable = how.durable_nodes;
}

void initialize_nodes(const client_config& config)
{
    if (config.mode == mode::plain)
        return;
    boost::asio::io_context context;
    auto done = async_initialize_nodes(context, config, boost::asio::use_future);
    context.run();
    done.get();
}

fencing_token token_of(const lease& held)
{
    return held.fence();
}

}  // namespace redlock::test
