#ifndef REDLOCK_NODE_STATUS_HPP
#define REDLOCK_NODE_STATUS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace redlock {

/// The state of the session with one node.
enum class node_state : std::uint8_t
{
    connecting,   ///< First connection under way, or the client isn't running yet.
    ready,        ///< Connected and checked. Votes.
    down,         ///< Not connected. Tried again after a pause.
    rejected,     ///< Connected, but failed the checks. Tried again after a pause.
    quarantined,  ///< Connected and checked. Doesn't vote yet: it may have forgotten locks.
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(node_state value) noexcept;

/// What the client knows about one node.
struct node_status
{
    std::string node;     ///< Address without credentials.
    node_state state;     ///< State of the session.
    std::string because;  ///< Why it is down, rejected or quarantined, in words. Empty when ready.

    /// The same for programs. `none` when ready, and during the first connection.
    redlock::reason reason = redlock::reason::none;

    error_code code{};  ///< The network error, when the node is down.

    /// Time to an answer, smoothed over the last answers. Zero before the first one.
    std::chrono::microseconds round_trip{0};

    /// The server's error text while it's connected but refuses commands: its memory is full, a
    /// save has failed, or the user lacks permission. Empty: it accepts commands.
    std::string refuses{};

    /// Why the node can't wake waiters, which then poll it: the server's error text. Empty if it
    /// can, or if the client doesn't use queues.
    std::string polls{};
};

}  // namespace redlock

#endif
