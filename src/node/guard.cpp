#include "node/guard.hpp"

#include "core/limits.hpp"
#include "core/overlap.hpp"
#include "core/quarantine.hpp"
#include "loop/randomness.hpp"

#include <boost/algorithm/hex.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>
#include <vector>

namespace redlock::detail {

namespace {

/// Increased when the scripts change so that old and new clients must not use the same nodes.
constexpr int protocol_version = 1;

/// The databases in use. If two are swapped, keys that were made in another one aren't ours.
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

std::string make_marker_begin(const client_config& config)
{
    return "redlock " + std::to_string(protocol_version) + ";databases=" + databases_of(config) +
           ";nodes=" + std::to_string(config.nodes.size()) + ";ttl_max=";
}

std::string make_fingerprint(const client_config& config, milliseconds ttl_max)
{
    return make_marker_begin(config) + std::to_string(ttl_max.count()) +
           ";clock_window=" + std::to_string(config.clock_window.count()) + ";";
}

/// The longest quarantine of any node in the list.
milliseconds longest_quarantine(const client_config& config, milliseconds quarantine)
{
    milliseconds overlap{0};
    for (const node_config& each : config.nodes)
        overlap = std::max(overlap, core::longest_overlap(each));
    return quarantine + overlap;
}

/// A key for what a node remembers. A cluster needs all keys of a script in one slot. The hash tag
/// of the prefix puts them there: all prefixes of one lock key have the same tag.
std::string own_key(const std::string& name, const client_config& config)
{
    if (std::ranges::none_of(config.nodes, &node_config::accept_cluster))
        return name;
    const std::string& prefix = config.key_prefix;
    const auto open = prefix.find('{');
    return name + ":" + prefix.substr(open, prefix.find('}', open) + 1 - open);
}

/// A derived overlap has no number. Otherwise, changing the setting that it is derived from would
/// leave nodes marked with the old number.
std::string with_overlap(const std::string& fingerprint, const node_config& entry)
{
    if (fingerprint.empty() || !core::may_fail_over(entry))
        return fingerprint;
    const std::string overlap = entry.overlap ? std::to_string(entry.overlap->count()) : "replicas";
    return fingerprint.substr(0, fingerprint.size() - 1) + ",overlap=" + overlap + ";";
}

/// A Lua string. Special characters and bytes that aren't printable ASCII are escaped.
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

/// A client's constants. See guarded_acquire.lua.
std::string make_constants(const client_config& config, const guard& made)
{
    const std::chrono::microseconds window = config.clock_window;
    return "local marker_key = " + quote(made.marker_key) +
           "\nlocal quarantine_key = " + quote(made.quarantine_key) +
           "\nlocal longest_quarantine = " +
           std::to_string(longest_quarantine(config, made.quarantine).count()) +
           "\nlocal marker_begin = " + quote(made.marker_begin) +
           "\nlocal window = " + std::to_string(window.count()) +
           "\nlocal fence_prefix = " + quote(fence_key_prefix) +
           "\nlocal fence_ttl = " + quote(std::to_string(config.fence_ttl.count())) +
           "\nlocal over_prefix = " + quote(over_key_prefix) +
           "\nlocal revoked_prefix = " + quote(revoked_key_prefix) +
           "\nlocal queue_prefix = " + quote(queue_key_prefix) +
           "\nlocal queue_max = " + std::to_string(core::max_queue) + "\nlocal longest_turn = " +
           std::to_string(std::chrono::microseconds(core::longest_turn).count()) +
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

/// Unique to this client. If another had the same name, it would only be woken for nothing.
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
    const milliseconds ttl_max = std::max(config.ttl_max, config.other_ttl_max);
    made.fingerprint = make_fingerprint(config, ttl_max);
    made.marker_begin = make_marker_begin(config);
    if (config.other_ttl_max > milliseconds(0))
    {
        made.smaller_fingerprint =
            make_fingerprint(config, std::min(config.ttl_max, config.other_ttl_max));
        made.raises = config.ttl_max > config.other_ttl_max;
    }
    made.quarantine = core::quarantine_for(ttl_max, config.clock_window);
    made.constants = make_constants(config, made);
    if (config.waiting.queue)
        made.queue_name = make_queue_name();
    return made;
}

std::string guard::fingerprint_of(const node_config& entry) const
{
    return with_overlap(fingerprint, entry);
}

std::string guard::smaller_fingerprint_of(const node_config& entry) const
{
    return with_overlap(smaller_fingerprint, entry);
}

std::string guard::describe_difference(const std::string& found, const std::string& mine)
{
    // The incarnation after the last semicolon means nothing to users.
    const auto settings_of = [](std::string text) {
        text.resize(std::min(text.rfind(';'), text.size()));
        boost::algorithm::replace_all(text, ",overlap=", ";overlap=");
        std::vector<std::string> parts;
        boost::algorithm::split(parts, text, [](char each) { return each == ';'; });
        return parts;
    };
    const std::vector<std::string> theirs = settings_of(found);
    const std::vector<std::string> ours = settings_of(mine);
    const auto missing_in = [](const std::vector<std::string>& others,
                               const std::vector<std::string>& some) {
        std::string list;
        for (const std::string& each : some)
        {
            if (std::ranges::find(others, each) == others.end())
                list += (list.empty() ? "" : " ") + each;
        }
        return list.empty() ? std::string("nothing more") : list;
    };
    return "has " + missing_in(ours, theirs) + ", but this client has " + missing_in(theirs, ours);
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
