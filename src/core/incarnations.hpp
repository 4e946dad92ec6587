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

    /// New whenever the server becomes a master. Only where a failover may happen, else empty.
    std::string replication_id{};

    std::chrono::seconds uptime{0};  ///< In whole seconds.
};

/** Which server was met behind each entry of the list of nodes.

    A quorum means something only if each entry is one server, and always a different one. A server
    tells who it is by its run id, which is new whenever it starts.

    Where a failover may happen, the entry leads to several servers in turn, and one may come back:
    as another master, with a new replication id. Two masters at the same time cannot be told from a
    failover until the first one is met again.
*/
class incarnations
{
public:
    enum class finding : std::uint8_t
    {
        fine,
        same_server,  ///< Another entry leads to the same server.
        overlaps,     ///< It seems to have lived while the last one did. See `overlaps_until`.
        returned,     ///< It was there before the last one.
    };

    /** @param doubt For how long the last server must not be heard before another one is believed
            that lived at the same time: what the last one granted has to be over by then.
    */
    incarnations(std::size_t node_count, nanoseconds doubt) : doubt_(doubt), nodes_(node_count) {}

    /// A server was met behind an entry, on a new connection.
    /// @param now The time of the answer.
    [[nodiscard]] finding meet(std::size_t node, const introduction& met, time_point now);

    /// The server behind an entry was last heard of at `when`.
    void heard(std::size_t node, time_point when) noexcept { nodes_[node].last_heard = when; }

    /// When a server that overlaps with the last one is fine, if that one is not heard again.
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

    /// The entry that leads to the server already, if `meet` found the same one.
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
        std::vector<std::string> former;  ///< Run ids, with replication ids where they matter.
    };

    nanoseconds doubt_;
    std::vector<entry> nodes_;
};

}  // namespace redlock::core

#endif
