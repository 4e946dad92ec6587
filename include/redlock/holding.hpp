#ifndef REDLOCK_HOLDING_HPP
#define REDLOCK_HOLDING_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>
#include <redlock/fencing.hpp>
#include <redlock/note.hpp>
#include <redlock/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace redlock {

/// Whether a resource is held.
enum class holding_state : std::uint8_t
{
    undecided,  ///< Too few nodes answered, or they disagree.
    free,       ///< So many nodes have no key that no one can have a quorum.
    held,       ///< A quorum of the nodes has the key of one holder.

    /// It was released, but a quorum of the nodes keeps it: see `acquire_options::at_least`. The
    /// rest of the holding describes its last holder.
    kept,
};

/// Lower-case name, for logs and tools.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(holding_state value) noexcept;

/** The holder of a resource, as the nodes reported it at one time.

    It is advice: the resource may have changed hands since. Only a lease protects, and only the
    protected resource can check a fencing token. What isn't known is empty or zero.

    A node counts only if it may vote. A node that is in quarantine, isn't marked, has a clock that
    is off or hasn't answered in time never counts as free.
*/
struct holding
{
    holding_state state = holding_state::undecided;  ///< What the nodes agree on.

    /// The text that the holder gave. Empty for a holder in plain mode, of another library or of an
    /// older version.
    redlock::note note{};

    /// The holder's fencing token. Empty for the same holders.
    fencing_token token{};

    /// Whether a node has marked the hold as one not to extend: see `client::async_revoke`.
    bool revoked = false;

    /// When the holder acquired the resource, by the holder's clock, which may differ from the
    /// nodes' clocks by `client_config::clock_window`. Known if the token is.
    std::optional<std::chrono::system_clock::time_point> since{};

    /// How long the holder or its release keeps a quorum if nothing is extended, rounded up.
    /// `forever` for keys without a ttl. Zero if nobody holds the resource.
    milliseconds remaining{0};

    std::size_t agree = 0;     ///< Nodes that agree; if undecided, the largest number that do.
    std::size_t answered = 0;  ///< Nodes that answered and may vote.

    /// Clients that wait in the longest queue of a node. A client's other acquisitions wait behind
    /// its first one and don't count. Zero in plain mode.
    std::size_t waiting = 0;

    /// When the nodes were asked. Their answers are from that time or later.
    time_point as_of{};
};

}  // namespace redlock

#endif
