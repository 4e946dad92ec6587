#include "node/guard.hpp"

#include "core/limits.hpp"
#include "core/quarantine.hpp"
#include "loop/randomness.hpp"

#include <boost/algorithm/hex.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>

namespace redlock::detail {

namespace {

/// Counts changes of the scripts after which old and new clients must not meet.
constexpr int protocol_version = 1;

/// The databases in use: keys that were made in another one are not ours, should two be swapped.
std::string databases_of(const client_config& config)
{
    std::set<unsigned> used;
    for (const node_config& each : config.nodes)
        used.insert(each.database);
    std::string list;
    for (const unsigned each : used)
        list += (list.empty() ? "" : ",") + std::to_string(each);
    return list;
}

std::string make_fingerprint(const client_config& config)
{
    return "redlock " + std::to_string(protocol_version) + ";databases=" + databases_of(config) +
           ";nodes=" + std::to_string(config.nodes.size()) +
           ";ttl_max=" + std::to_string(config.ttl_max.count()) +
           ";clock_window=" + std::to_string(config.clock_window.count()) + ";";
}

/// A key for what a node remembers. A cluster has all keys of a script in one slot, and puts them
/// there by the hash tag that the prefix has then: all prefixes of one lock key have the same.
std::string own_key(const std::string& name, const client_config& config)
{
    if (std::ranges::none_of(config.nodes, &node_config::accept_cluster))
        return name;
    const std::string& prefix = config.key_prefix;
    const auto open = prefix.find('{');
    return name + ":" + prefix.substr(open, prefix.find('}', open) + 1 - open);
}

/// A string of Lua. Bytes that mean something there, or nothing anywhere, are escaped.
std::string quote(std::string_view text)
{
    std::string result = "'";
    for (const char each : text)
    {
        const auto byte = static_cast<unsigned char>(each);
        if (byte >= ' ' && byte < 127 && byte != '\'' && byte != '\\')
        {
            result += each;
            continue;
        }
        const std::string code = std::to_string(byte);
        result += '\\' + std::string(3 - code.size(), '0') + code;
    }
    return result + "'";
}

/// The constants of a client. See guarded_acquire.lua.
std::string make_constants(const client_config& config, const guard& made)
{
    const std::chrono::microseconds window = config.clock_window;
    return "local marker_key = " + quote(made.marker_key) +
           "\nlocal quarantine_key = " + quote(made.quarantine_key) +
           "\nlocal quarantine_length = " + std::to_string(made.quarantine.count()) +
           "\nlocal fingerprint = " + quote(made.fingerprint) +
           "\nlocal window = " + std::to_string(window.count()) +
           "\nlocal fence_prefix = " + quote(fence_key_prefix) +
           "\nlocal fence_ttl = " + quote(std::to_string(config.fence_ttl.count())) +
           "\nlocal queue_prefix = " + quote(queue_key_prefix) +
           "\nlocal queue_max = " + std::to_string(core::max_queue) +
           "\nlocal queue_ttl = " + std::to_string(core::queue_ttl.count()) +
           "\nlocal waits_prefix = " + quote(waits_key_prefix) +
           "\nlocal reserved_prefix = " + quote(reserved_key_prefix) +
           "\nlocal far_prefix = " + quote(far_key_prefix) +
           "\nlocal channel_prefix = " + quote(channel_prefix) +
           "\nlocal next_suffix = " + quote(next_channel_suffix) +
           "\nlocal revoked_suffix = " + quote(revoked_channel_suffix) + "\nlocal reservation = " +
           std::to_string(core::reservation_for(config.node_timeout).count()) +
           "\nlocal longest_reservation = " + std::to_string(core::longest_reservation.count()) +
           "\n";
}

/// Of this client alone. Another one of the same name would be woken in vain, and nothing worse.
std::string make_queue_name()
{
    std::array<unsigned char, 8> random{};
    fill_random(random);
    std::string name;
    boost::algorithm::hex_lower(random, std::back_inserter(name));
    return name;
}

}  // namespace

std::optional<guard> make_guard(const client_config& config)
{
    if (config.mode == mode::plain)
        return std::nullopt;
    guard made;
    made.marker_key = own_key("redlock:marker", config);
    made.quarantine_key = own_key("redlock:quarantine", config);
    made.seal_key = own_key("redlock:look", config);
    made.fingerprint = make_fingerprint(config);
    made.quarantine = core::quarantine_for(config.ttl_max, config.clock_window);
    made.constants = make_constants(config, made);
    if (config.waiting.queue)
        made.queue_name = make_queue_name();
    return made;
}

std::string guard::channel() const
{
    return std::string(channel_prefix) + queue_name;
}

std::string guard::next_channel() const
{
    return channel() + std::string(next_channel_suffix);
}

std::string guard::revoked_channel() const
{
    return channel() + std::string(revoked_channel_suffix);
}

}  // namespace redlock::detail
