#include "node/link_group.hpp"

#include "node/pipeline.hpp"
#include "node/vetting/passed_entries.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace redlock::detail {

namespace {

/// How long a server must have been silent before one that ran at the same time is accepted. For
/// plain mode, which has no quarantine.
constexpr std::chrono::minutes plain_doubt{1};

}  // namespace

link_group make_link_group(const client_config& config)
{
    link_group group;
    group.name = config.name;
    if (auto guarded = make_guard(config))
        group.guarded = std::make_shared<guard>(std::move(*guarded));
    const core::nanoseconds doubt =
        group.guarded ? core::to_nanoseconds(group.guarded->quarantine) : plain_doubt;
    group.servers = std::make_shared<core::incarnations>(config.nodes.size(), doubt);
    group.passed = std::make_shared<passed_entries>(config.nodes.size());
    // A cluster node wants all keys of a command in one slot, and plain mode doesn't control the
    // slots.
    const bool single_keys = config.mode == mode::plain &&
                             std::ranges::any_of(config.nodes, &node_config::accept_cluster);
    group.encoder = std::make_shared<command_encoder>(group.guarded, single_keys);
    group.tls = make_tls_sources(config.nodes);
    std::ranges::transform(config.nodes, std::back_inserter(group.sentinels), make_sentinel_group);
    return group;
}

}  // namespace redlock::detail
