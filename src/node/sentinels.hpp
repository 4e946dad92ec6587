#ifndef REDLOCK_SRC_NODE_SENTINELS_HPP
#define REDLOCK_SRC_NODE_SENTINELS_HPP

#include <redlock/config.hpp>

#include "loop/ground.hpp"
#include "wire/connection.hpp"
#include "wire/name_lookup.hpp"
#include "wire/tls_context.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

/// A Sentinel, and how to reach it.
struct sentinel
{
    node_config address;
    std::shared_ptr<tls_source> tls;  ///< Null without TLS.
    std::shared_ptr<name_lookup> names;
};

/// The Sentinels of an entry and what they said, shared by all its connections.
struct sentinel_group
{
    std::string master;  ///< Its name.
    std::vector<sentinel> all;
    std::size_t first = 0;               ///< The one to ask first.
    std::size_t told_by = 0;             ///< The one that answered last.
    std::size_t asked = 0;               ///< How many were asked for a first address.
    std::optional<unsigned> replicas{};  ///< Of the master, by the last answer.

    /// Look-ups of the master's name, by the last answer. Null if there was none.
    std::shared_ptr<name_lookup> names{};
    std::string address{};

    /// Whether one wasn't asked yet, and may know another server.
    [[nodiscard]] bool may_lead_elsewhere() const noexcept { return asked < all.size(); }

    /// The last answer led to a master that votes. Otherwise the next Sentinel is asked first.
    void believe() noexcept { first = told_by; }
};

/// @return Null for an entry without Sentinels.
[[nodiscard]] std::shared_ptr<sentinel_group> make_sentinel_group(const node_config& entry);

/** A connection to the master of a group, wherever it is.

    Opening it asks the Sentinels in turn, and connects to the address from the first one that
    answers. It listens to that one, and asks again every ten seconds. If one says that the master
    has moved, or that the group has another replica, the connection ends.
    @param tls The master's. Null without TLS.
*/
[[nodiscard]] std::unique_ptr<connection> make_master_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& entry,
    std::shared_ptr<sentinel_group> by
);

}  // namespace redlock::detail

#endif
