// Any configuration and any options: they are refused in words that hold no password, or are within
// the limits that the rest of the library relies on.

#include <redlock/config.hpp>
#include <redlock/options.hpp>

#include "client/validate.hpp"
#include "core/limits.hpp"
#include "fuzz/fuzz_target.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

using redlock::client_config;
using redlock::milliseconds;
using redlock::node_config;
using redlock::fuzz::byte_source;
using redlock::fuzz::require;

namespace {

constexpr std::string_view secret = "s3cr3t-p4ssw0rd";

/// Mostly a time that people choose, now and then any.
milliseconds take_time(byte_source& from)
{
    switch (from.below(4))
    {
    case 0: return milliseconds(from.take<std::int64_t>());
    case 1: return milliseconds(from.take<std::uint32_t>());
    case 2: return milliseconds(from.take<std::uint16_t>());
    default: return milliseconds(from.take<std::uint8_t>());
    }
}

double take_double(byte_source& from)
{
    const auto bits = from.take<std::uint64_t>();
    double made = 0;
    std::memcpy(&made, &bits, sizeof made);
    return from.take_bool() ? made : 0.01;
}

node_config take_node(byte_source& from)
{
    node_config node;
    node.host = from.take_text();
    node.port = from.take<std::uint16_t>();
    node.password = secret;
    if (from.below(4) == 0)
        node.unix_socket = from.take_text();
    if (from.below(4) == 0)
    {
        node.tls.emplace();
        node.tls->cert_file = from.take_text();
        node.tls->key_file = from.take_text();
    }
    node.accept_cluster = from.take_bool();
    return node;
}

client_config take_config(byte_source& from)
{
    client_config config;
    for (std::size_t left = from.below(20); left > 0; --left)
        config.nodes.push_back(take_node(from));
    if (from.take_bool())
        config.node_timeout = take_time(from);
    if (from.take_bool())
        config.retry = {take_time(from), take_time(from)};
    if (from.take_bool())
    {
        config.ttl_max = take_time(from);
        config.clock_window = take_time(from);
        config.fence_ttl = take_time(from);
    }
    config.clock_drift = take_double(from);
    config.mode = from.take_bool() ? redlock::mode::plain : redlock::mode::guarded;
    config.key_prefix = from.take_text();
    return config;
}

bool is_valid(const client_config& config)
{
    try
    {
        redlock::detail::validate(config);
        return true;
    }
    catch (const std::invalid_argument& refused)
    {
        const std::string_view message = refused.what();
        require(message.starts_with("redlock: "), "a refusal says whose it is");
        require(message.find(secret) == message.npos, "a refusal does not show the password");
        return false;
    }
}

void check(const client_config& config)
{
    using namespace redlock::core;

    const auto is_within = [](milliseconds value, milliseconds lowest, milliseconds highest) {
        return value >= lowest && value <= highest;
    };
    require(!config.nodes.empty() && config.nodes.size() <= max_nodes, "1 to 15 nodes");
    std::set<std::string> names;
    for (const node_config& node : config.nodes)
    {
        require(names.insert(node.name()).second, "each node is there once");
        require(redlock::fuzz::is_on_one_line(node.name()), "a name has no control characters");
    }
    require(is_within(config.node_timeout, min_node_timeout, max_node_timeout), "node_timeout");
    require(config.retry.first_delay.count() >= 0, "retry.first_delay");
    require(is_within(config.retry.max_delay, min_retry_delay, max_retry_delay), "retry.max_delay");
    require(config.clock_drift >= 0 && config.clock_drift <= max_clock_drift, "clock_drift");
    require(config.key_prefix.size() <= max_prefix_size, "key_prefix");
    if (config.mode == redlock::mode::plain)
        return;
    require(is_within(config.ttl_max, min_ttl, max_ttl), "ttl_max");
    require(is_within(config.clock_window, min_clock_window, max_clock_window), "clock_window");
    require(config.fence_ttl > config.ttl_max + 2 * config.clock_window, "fence_ttl");
    require(config.node_timeout < config.ttl_max, "some ttl is longer than node_timeout");
}

void check_options(byte_source& from, const client_config& config)
{
    redlock::acquire_options options;
    options.ttl = take_time(from);
    options.wait = take_time(from);
    options.hold_max = take_time(from);
    redlock::detail::demand wanted(from.take_text(), options);
    wanted.put_in_front(config.key_prefix);
    if (!redlock::detail::problem_of_acquisition(config, wanted).empty())
        return;
    const bool plain = config.mode == redlock::mode::plain;
    const milliseconds longest = plain ? redlock::core::max_ttl : config.ttl_max;
    require(options.ttl >= redlock::core::min_ttl && options.ttl <= longest, "ttl");
    require(options.ttl > config.node_timeout, "ttl is longer than node_timeout");
    require(options.wait.count() >= 0 && options.hold_max.count() > 0, "wait and hold_max");
    require(!wanted.resource().empty(), "a resource has a name");
    require(plain || !wanted.key.starts_with("redlock:"), "a key is not one of guarded mode");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes = redlock::fuzz::as_text(data, size);
    if (bytes.find(secret) != bytes.npos)
        return 0;  // libFuzzer learns it, and then it may be a part of a name that is shown.
    byte_source from(bytes);
    const client_config config = take_config(from);
    if (!is_valid(config))
        return 0;
    check(config);
    check_options(from, config);
    return 0;
}
