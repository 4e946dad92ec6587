#include "sim/client_host.hpp"

#include "client/client_impl.hpp"
#include "client/validate.hpp"
#include "node/pipeline.hpp"
#include "node/redis_node.hpp"

#include <boost/asio/strand.hpp>

#include <utility>

namespace redlock::sim {

redlock::client make_client(
    const boost::asio::any_io_executor& executor,
    network& over,
    process& in,
    unsigned index,
    const std::vector<std::size_t>& nodes,
    client_config config,
    const detail::script_set* scripts
)
{
    detail::validate(config);
    const detail::strand_type strand = boost::asio::make_strand(executor);
    const detail::ground on{
        strand,
        std::make_shared<detail::turn>(executor, strand),
        make_process_clock(in, strand),
    };
    detail::link_group group = detail::make_link_group(config);
    if (scripts)
        group.encoder = std::make_shared<detail::command_encoder>(group.guarded, false, *scripts);
    detail::node_list asked;
    for (std::size_t i = 0; i < nodes.size(); ++i)
    {
        auto make_link = [=, &over, &in, to = nodes[i], how = config.nodes[i]]() {
            auto wire = over.connect(in, index, to, on.strand, on.end_of_turn);
            return detail::make_redis_link(on, group, i, how, std::move(wire));
        };
        asked.push_back(detail::make_redis_node(on, std::move(make_link), i, config));
    }
    return detail::make_client(
        std::make_shared<detail::client_impl>(executor, std::move(config), on, std::move(asked))
    );
}

}  // namespace redlock::sim
