#include "node/guard.hpp"

#include "core/quarantine.hpp"

namespace redlock::detail {

namespace {

/// Counts changes of the scripts after which old and new clients must not meet.
constexpr int protocol_version = 1;

std::string make_fingerprint(const client_config& config)
{
    return "redlock " + std::to_string(protocol_version) +
           ";nodes=" + std::to_string(config.nodes.size()) +
           ";ttl_max=" + std::to_string(config.ttl_max.count()) +
           ";clock_window=" + std::to_string(config.clock_window.count()) + ";";
}

}  // namespace

std::optional<guard> make_guard(const client_config& config)
{
    if (config.mode == mode::plain)
        return std::nullopt;
    return guard{
        "redlock:marker:" + config.key_prefix,
        "redlock:quarantine:" + config.key_prefix,
        make_fingerprint(config),
        core::quarantine_for(config.ttl_max, config.clock_window),
        config.clock_window,
        config.fence_ttl,
    };
}

}  // namespace redlock::detail
