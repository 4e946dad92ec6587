#include "client/validate.hpp"

#include "core/limits.hpp"
#include "core/overlap.hpp"
#include "core/quarantine.hpp"
#include "loop/platform.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::detail {

namespace {

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("redlock: " + what);
}

std::string in_ms(milliseconds value)
{
    return std::to_string(value.count()) + " ms";
}

std::string out_of_range(
    const char* field,
    milliseconds value,
    milliseconds lowest,
    milliseconds highest
)
{
    const std::string limits = highest == forever
                                   ? in_ms(lowest) + " or more"
                                   : std::to_string(lowest.count()) + " to " + in_ms(highest);
    return std::string(field) + " is " + in_ms(value) + ", must be " + limits;
}

void check_range(const char* field, milliseconds value, milliseconds lowest, milliseconds highest)
{
    if (value < lowest || value > highest)
        reject(out_of_range(field, value, lowest, highest));
}

bool is_control(char c) noexcept
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void check_node(const node_config& node)
{
    if (node.unix_socket.empty() && node.host.empty())
        reject("a node has neither host nor unix_socket");
    if (node.unix_socket.empty() && node.port == 0)
        reject("node '" + node.name() + "': port is 0, must be 1 to 65535");
    const std::size_t max_path = platform::max_socket_path();
    if (node.unix_socket.size() > max_path)
    {
        reject(
            "unix_socket has " + std::to_string(node.unix_socket.size()) +
            " bytes, must have at most " + std::to_string(max_path)
        );
    }
    if (std::ranges::any_of(node.host + node.unix_socket, is_control))
        reject("a host or unix_socket contains a control character");
    if (!node.unix_socket.empty() && node.tls)
        reject("node '" + node.name() + "': TLS over a unix socket is not supported");
    if (node.tls && node.tls->cert_file.empty() != node.tls->key_file.empty())
        reject("node '" + node.name() + "': set both tls.cert_file and tls.key_file, or neither");
}

bool is_blank(char c) noexcept
{
    return c == ' ' || is_control(c);
}

void check_sentinel(const sentinel_config& sentinel)
{
    if (sentinel.master.empty() || std::ranges::any_of(sentinel.master, is_blank))
        reject("sentinel.master is '" + sentinel.master + "', must be a name without blanks");
    if (sentinel.addresses.empty() || sentinel.addresses.size() > core::max_sentinels)
    {
        reject(
            "sentinel.addresses has " + std::to_string(sentinel.addresses.size()) +
            " entries, must have 1 to " + std::to_string(core::max_sentinels)
        );
    }
    for (const auto& [host, port] : sentinel.addresses)
    {
        if (host.empty() || port == 0 || std::ranges::any_of(host, is_control))
            reject(
                "sentinel.addresses has '" + host + ":" + std::to_string(port) +
                "', which isn't a valid host and port"
            );
    }
}

/// What an entry with a failover behind it can't have.
void check_failover(const node_config& node)
{
    using namespace std::chrono_literals;

    const std::string which = "node '" + node.name() + "': ";
    if (node.sentinel)
        check_sentinel(*node.sentinel);
    if (node.sentinel && !node.unix_socket.empty())
        reject(which + "sentinel and unix_socket can't be combined");
    if (node.overlap && (*node.overlap < 0ms || *node.overlap > core::max_overlap))
        reject(which + out_of_range("overlap", *node.overlap, 0ms, core::max_overlap));
    if (!core::may_fail_over(node))
        return;
    if (node.durable)
        reject(
            which + "durable can't be set where a failover may happen: a replica may lack locks"
        );
    if (node.accept_cluster)
        reject(which + "accept_cluster can't be combined with overlap or sentinel");
}

/// Whether two entries are one group, which would vote twice.
bool are_one_group(const node_config& one, const node_config& other)
{
    if (!one.sentinel || !other.sentinel || one.sentinel->master != other.sentinel->master)
        return false;
    return std::ranges::any_of(one.sentinel->addresses, [&other](const sentinel_address& each) {
        return std::ranges::any_of(
            other.sentinel->addresses,
            [&each](const sentinel_address& same) {
                return each.host == same.host && each.port == same.port;
            }
        );
    });
}

void check_nodes(const std::vector<node_config>& nodes)
{
    if (nodes.empty() || nodes.size() > core::max_nodes)
    {
        reject(
            "the list of nodes has " + std::to_string(nodes.size()) + " entries, must have 1 to " +
            std::to_string(core::max_nodes)
        );
    }
    std::set<std::string> names;
    for (const node_config& node : nodes)
    {
        check_node(node);
        check_failover(node);
        // The same node twice is a fake quorum, because one server would vote twice. The database
        // doesn't matter, because two databases of one server fail together.
        const bool is_same = std::ranges::any_of(nodes, [&node](const node_config& other) {
            return &node != &other && are_one_group(node, other);
        });
        if (is_same || !names.insert(node.name()).second)
            reject("node '" + node.name() + "' is listed twice");
    }
}

/// Whether a cluster puts all keys with this prefix, and those that the library derives from them,
/// on one node.
bool has_hash_tag(std::string_view prefix)
{
    const std::size_t open = prefix.find('{');
    const std::size_t close = prefix.find('}', open);
    return close != prefix.npos && close > open + 1;
}

void check_guard(const client_config& config)
{
    using namespace std::chrono_literals;

    check_range("ttl_max", config.ttl_max, core::min_ttl, core::max_ttl);
    check_range(
        "clock_window", config.clock_window, core::min_clock_window, core::max_clock_window
    );
    check_range("fence_ttl", config.fence_ttl, core::min_fence_ttl, core::max_fence_ttl);
    if (config.key_prefix.starts_with(core::reserved_prefix))
    {
        reject(
            "key_prefix '" + config.key_prefix + "' begins with '" +
            std::string(core::reserved_prefix) + "', which is reserved for guarded mode"
        );
    }
    // An expired fence is a loss that no quarantine covers.
    if (config.other_ttl_max != 0ms)
    {
        check_range("other_ttl_max", config.other_ttl_max, core::min_ttl, core::max_ttl);
        if (config.other_ttl_max == config.ttl_max)
            reject("other_ttl_max is " + in_ms(config.ttl_max) + ", like ttl_max; leave it at 0");
    }
    const milliseconds outlived =
        std::max({config.ttl_max, config.other_ttl_max, core::max_clock_step});
    milliseconds overlap{0};
    for (const node_config& each : config.nodes)
        overlap = std::max(overlap, core::longest_overlap(each));
    if (config.fence_ttl <= outlived + 2 * config.clock_window + overlap)
    {
        reject(
            "fence_ttl is " + std::to_string(config.fence_ttl.count()) +
            " ms, must be longer than twice clock_window plus ttl_max or 1 s, whichever is longer" +
            (overlap > 0ms ? ", plus the longest overlap" : "")
        );
    }
    if (config.node_timeout >= config.ttl_max)
    {
        reject(
            "node_timeout is " + std::to_string(config.node_timeout.count()) +
            " ms, must be shorter than ttl_max, which is " +
            std::to_string(config.ttl_max.count()) + " ms"
        );
    }
    if (std::ranges::any_of(config.nodes, &node_config::accept_cluster) &&
        !has_hash_tag(config.key_prefix))
    {
        reject(
            "key_prefix '" + config.key_prefix +
            "' has no hash tag like '{locks}:', which accept_cluster needs in guarded mode"
        );
    }
}

}  // namespace

void validate(const client_config& config)
{
    using namespace std::chrono_literals;

    check_nodes(config.nodes);
    check_range(
        "node_timeout", config.node_timeout, core::min_node_timeout, core::max_node_timeout
    );
    check_range("retry.first_delay", config.retry.first_delay, 0ms, core::max_retry_delay);
    check_range(
        "retry.max_delay", config.retry.max_delay, core::min_retry_delay, core::max_retry_delay
    );
    check_range("waiting.poll", config.waiting.poll, core::min_poll, core::max_poll);
    if (config.mode == mode::guarded)
        check_guard(config);
    else if (std::ranges::any_of(config.nodes, core::may_fail_over))
        reject("overlap and sentinel need a quarantine, which plain mode lacks; use guarded mode");
    // Written so that NaN fails.
    if (!(config.clock_drift >= 0 && config.clock_drift <= core::max_clock_drift))
    {
        char value[32];
        std::snprintf(value, sizeof value, "%.17g", config.clock_drift);
        reject("clock_drift is " + std::string(value) + ", must be 0 to 0.5");
    }
    if (config.name.size() > note::max_size)
    {
        reject(
            "name has " + std::to_string(config.name.size()) + " bytes, must have at most " +
            std::to_string(note::max_size)
        );
    }
    if (config.key_prefix.size() > core::max_prefix_size)
    {
        reject(
            "key_prefix has " + std::to_string(config.key_prefix.size()) +
            " bytes, must have at most " + std::to_string(core::max_prefix_size)
        );
    }
}

std::string problem_of_ttl(const client_config& config, const core::lifetime& lives)
{
    using namespace std::chrono_literals;

    const auto [ttl, grace, drift_rate] = lives;
    const bool guarded = config.mode == mode::guarded;
    const milliseconds highest = guarded ? config.ttl_max : core::max_ttl;
    if (ttl < core::min_ttl || ttl > highest)
    {
        return out_of_range("ttl", ttl, core::min_ttl, highest) +
               (guarded && ttl > highest
                    ? ", which is the client's ttl_max; auto_extend keeps a lease for longer, and "
                      "docs/operations.md says how to raise ttl_max"
                    : "");
    }
    if (ttl <= config.node_timeout)
    {
        return "ttl is " + in_ms(ttl) +
               ", must be longer than the client's node_timeout, which is " +
               in_ms(config.node_timeout);
    }
    // A quarantine doesn't cover more.
    if (grace > highest - ttl)
    {
        return "ttl and grace are " + in_ms(ttl) + " and " + in_ms(grace) +
               ", must add up to at most " + in_ms(highest) + ", which is the client's ttl_max";
    }
    // A quarter of the ttl leaves an automatic extension enough time.
    const auto drift = std::chrono::ceil<milliseconds>(lives.drift());
    if (grace > 0ms && drift > ttl / 4)
    {
        return "the clock drift of ttl and grace, " + in_ms(ttl) + " and " + in_ms(grace) +
               ", is " + in_ms(drift) + ", must be at most a quarter of the ttl";
    }
    return {};
}

std::string problem_of_resource(const client_config& config, const demand& wanted)
{
    const std::size_t size = wanted.resource().size();
    if (size == 0 || size > core::max_resource_size)
    {
        return "resource has " + std::to_string(size) + " bytes, must have 1 to " +
               std::to_string(core::max_resource_size);
    }
    if (config.mode == mode::guarded && wanted.key.starts_with(core::reserved_prefix))
    {
        return "key_prefix and resource make a key that begins with '" +
               std::string(core::reserved_prefix) + "', which is reserved for guarded mode";
    }
    return {};
}

std::string problem_of_acquisition(const client_config& config, const demand& wanted)
{
    using namespace std::chrono_literals;

    if (std::string problem = problem_of_resource(config, wanted); !problem.empty())
        return problem;
    const acquire_options& options = wanted.options;
    if (options.wait < 0ms)
        return out_of_range("wait", options.wait, 0ms, forever);
    if (config.mode == mode::plain && !options.note.empty())
        return "note needs guarded mode, but the client is in plain mode";
    if (options.hold_max < 1ms)
        return out_of_range("hold_max", options.hold_max, 1ms, forever);
    if (options.grace < 0ms)
        return "grace is " + in_ms(options.grace) + ", must be 0 or more";
    if (config.mode == mode::plain && options.grace > 0ms)
        return "grace needs guarded mode, but the client is in plain mode";
    if (options.at_least < 0ms || options.at_least > core::max_at_least)
        return out_of_range("at_least", options.at_least, 0ms, core::max_at_least);
    if (config.mode == mode::plain && options.at_least > 0ms)
        return "at_least needs guarded mode, but the client is in plain mode";
    const core::lifetime lives{options.ttl, options.grace, config.clock_drift};
    if (std::string problem = problem_of_ttl(config, lives); !problem.empty())
        return problem;
    const milliseconds longest = core::longest_stop_before(lives, config.node_timeout);
    if (options.stop_before >= 0ms && options.stop_before <= longest)
        return {};
    return out_of_range("stop_before", options.stop_before, 0ms, longest) +
           ", which is 2/3 of ttl minus the clock drift of ttl and grace and two node_timeouts";
}

}  // namespace redlock::detail
