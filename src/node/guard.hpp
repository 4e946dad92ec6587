#ifndef REDLOCK_SRC_NODE_GUARD_HPP
#define REDLOCK_SRC_NODE_GUARD_HPP

#include <redlock/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

/// What guarded mode adds to the commands, the same for all nodes of a client.
struct guard
{
    // What a node remembers belongs to its database and not to a prefix, because several prefixes
    // can make the same lock key.
    std::string marker_key;
    std::string quarantine_key;
    std::string seal_key;  ///< The key that an initialization sets on a node.

    /// The settings that all clients of a database must share, as kept in the marker. No
    /// fingerprint is a prefix of another one.
    std::string fingerprint;

    /// The beginning of the fingerprints of all entries. The scripts know it.
    std::string marker_begin;

    /// While a fleet raises `ttl_max`, `fingerprint` has the larger one and this has the smaller.
    /// Otherwise empty.
    std::string smaller_fingerprint;

    /// Whether the client may ask for more than the smaller `ttl_max`.
    bool raises = false;

    milliseconds quarantine;
    std::string constants;  ///< Lua, in front of each guarded script.

    /// The name of this client in the nodes' queues. Empty if it polls.
    std::string queue_name;

    /// The part of the marker that is passed to a script that compares it.
    [[nodiscard]] std::string end_of(const std::string& marker) const
    {
        return marker.substr(marker_begin.size());
    }

    /// The fingerprint for an entry of the list, which has its overlap if a failover may happen.
    [[nodiscard]] std::string fingerprint_of(const node_config& entry) const;
    [[nodiscard]] std::string smaller_fingerprint_of(const node_config& entry) const;

    /// In which settings a marker differs: "has ttl_max=30000, but this client has ttl_max=60000".
    [[nodiscard]] static std::string describe_difference(
        const std::string& found,
        const std::string& mine
    );

    /// The channel on which the nodes wake the client.
    [[nodiscard]] std::string channel() const;

    /// The channel on which they tell it that it is next.
    [[nodiscard]] std::string next_channel() const;

    /// The channel on which they tell it that one of its holds is revoked.
    [[nodiscard]] std::string revoked_channel() const;
};

/// @return Empty in plain mode.
[[nodiscard]] std::optional<guard> make_guard(const client_config& config);

/// The key in which a node keeps the highest token of a lock key: this and the lock key.
inline constexpr std::string_view fence_key_prefix = "redlock:fence:";

/// The same for the mark that holds of it are over.
inline constexpr std::string_view over_key_prefix = "redlock:over:";

/// The same for the mark that one of them is revoked: this, its token, ":" and the lock key.
inline constexpr std::string_view revoked_key_prefix = "redlock:revoked:";

/// The same for the queue of clients that wait for it.
inline constexpr std::string_view queue_key_prefix = "redlock:queue:";

/// The same for the flag that a client waits for it.
inline constexpr std::string_view waits_key_prefix = "redlock:waits:";

/// The same for the client that goes first.
inline constexpr std::string_view reserved_key_prefix = "redlock:reserved:";

/// How long to keep a lock key for a client that is far away: this, the lock key, a colon and the
/// client's name.
inline constexpr std::string_view far_key_prefix = "redlock:far:";

/// The channel of a client: this and its name.
inline constexpr std::string_view channel_prefix = "redlock:";

/// Appended to that, it names the channel that tells a client that it is next. It is separate
/// because older clients take every message on the other one for a key.
inline constexpr std::string_view next_channel_suffix = ":next";

/// The same for the channel that tells a client that one of its holds is revoked.
inline constexpr std::string_view revoked_channel_suffix = ":revoked";

}  // namespace redlock::detail

#endif
