#ifndef REDLOCK_SRC_CORE_INCARNATIONS_HPP
#define REDLOCK_SRC_CORE_INCARNATIONS_HPP

#include "core/instant.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::core {

/// How a server introduces itself.
struct introduction
{
    std::string run_id;

    /// Changes whenever the server becomes a master. Empty where no failover may happen.
    std::string replication_id{};

    std::chrono::seconds uptime{0};  ///< In whole seconds.

    /// The replication id of the master before it, if the server was that one's replica.
    std::string predecessor{};
};

/** Which server was met behind each entry of the list of nodes.

    A quorum means something only if each entry is one server and no two entries are the same one. A
    server identifies itself by its run id, which changes with each start.

    Where a failover may happen, the entry leads to several servers in turn, and one may come back
    as a new master with a new replication id. Two masters at the same time look like a failover
    until the first one is met again.
*/
class incarnations
{
public:
    enum class finding : std::uint8_t
    {
        fine,
        same_server,  ///< Another entry leads to the same server.
        overlaps,     ///< It seems to have run while the last one did. See `overlaps_until`.
        returned,     ///< It was there before the last one, or was the master before it.
    };

    /** @param doubt How long the last server must be silent before one that ran at the same time is
            accepted. Whatever the last one granted has to be over by then.
    */
    incarnations(std::size_t node_count, nanoseconds doubt) : doubt_(doubt), nodes_(node_count) {}

    /// A server was met behind an entry, on a new connection.
    /// @param now The time of the answer.
    [[nodiscard]] finding meet(std::size_t node, const introduction& met, time_point now);

    /// The server behind an entry was last heard of at `when`.
    void heard(std::size_t node, time_point when) noexcept { nodes_[node].last_heard = when; }

    /// When a server that overlaps with the last one is fine if the last one stays silent.
    [[nodiscard]] time_point overlaps_until(std::size_t node) const noexcept
    {
        return nodes_[node].last_heard + doubt_;
    }

    /// The server behind an entry, as it was met last, has been admitted.
    void admitted(std::size_t node) noexcept { nodes_[node].was_admitted = true; }

    /// Whether it has been, on this connection or one before.
    [[nodiscard]] bool was_admitted(std::size_t node) const noexcept
    {
        return nodes_[node].was_admitted;
    }

    /// The entry that already leads to the server, if `meet` found the same one.
    [[nodiscard]] std::optional<std::size_t> other_entry(
        std::size_t node,
        const std::string& run_id
    ) const noexcept;

private:
    struct entry
    {
        std::string run_id;
        std::string replication_id;
        time_point last_heard;
        bool was_admitted = false;
        std::vector<std::string> former;  ///< Run ids, with replication ids where they matter, and
                                          ///< the replication ids of predecessors.

        /// Whether a server was there before this one.
        [[nodiscard]] bool was(const introduction& met) const;

        void remember(std::string id);
    };

    nanoseconds doubt_;
    std::vector<entry> nodes_;
};

}  // namespace redlock::core

#endif
