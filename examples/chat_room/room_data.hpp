#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_DATA_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_DATA_HPP

#include <redlock/fencing.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chat {

/// Milliseconds since 1970 on the clock of the store.
using store_time = std::int64_t;

/// What a member says.
struct said
{
    std::string id;  ///< Made by the member. The same if it has to say it again.
    std::string name;
    std::string text;
};

/// A message in the log of a room.
struct message
{
    std::uint64_t seq = 0;
    said what;
    store_time at = 0;
    redlock::fencing_token fence;  ///< Of the coordinator that appended it.
    std::uint64_t term = 0;        ///< The number of that coordinator in the room, from 1.
    std::string server{};          ///< Of that coordinator.
    std::int64_t waited = 0;       ///< Milliseconds in the inbox.
};

/// A message in the inbox of a room.
struct inbox_entry
{
    std::string entry;  ///< Its id there.
    said what;
};

/** What a coordinator has read in order to write it to the copy of a room that has no fence.

    For the demo, `--unfenced`. The copy gets what the room gets, and has the same coordinator. With
    the copy, that one does what many programs do under a lock: it looks, then it writes, and
    nothing checks its token. If it is paused between the two, its successor writes the same.
*/
struct unfenced_copy
{
    std::string room{};  ///< Empty: there is no copy.
    std::vector<inbox_entry> seen{};
};

/// A write that a room has refused, because it has seen a higher token.
struct refused_write
{
    std::string server;
    redlock::fencing_token fence;
    std::uint64_t term = 0;  ///< The number of the coordinator that tried to write.
    redlock::fencing_token seen;
    std::uint64_t seen_term = 0;  ///< The number of the one that the room had seen.
    std::int64_t slept = 0;       ///< Milliseconds since its previous access.
    store_time at = 0;
};

/// From when until when.
struct span
{
    store_time from = 0;
    store_time to = 0;
};

/// One entry in the list of a room's coordinators: one began, handed over, or was refused.
struct coordinator_entry
{
    std::string id;  ///< Of the entry.
    redlock::fencing_token fence;
    std::string server;               ///< Empty: the coordinator left.
    std::uint64_t number = 0;         ///< In the room, from 1.
    store_time since = 0;             ///< When it began.
    std::optional<store_time> ended;  ///< When it left, or when its predecessor's lease ended.
    redlock::fencing_token before;    ///< Its predecessor.
    std::optional<store_time> heard;  ///< The predecessor's last sign of life.
    std::optional<span> empty;        ///< When nobody was in the room, between the two.
    std::optional<refused_write> refused;
};

/// What the store knows of a room at one moment.
struct room_status
{
    store_time now = 0;
    store_time began = 0;  ///< When its log did. If it changes, the store has lost the log.
    std::uint64_t members = 0;
    std::uint64_t first = 1;    ///< Lowest sequence number that the log keeps.
    std::uint64_t last = 0;     ///< Highest sequence number.
    std::uint64_t refused = 0;  ///< Stale writes.

    std::string server;  ///< Of the last coordinator, empty if there was none.
    redlock::fencing_token fence;
    std::uint64_t number = 0;  ///< Of that coordinator in the room, from 1.
    store_time since = 0;
    store_time until = 0;  ///< As long as it is later than `now`, the coordinator is in charge.
    std::int64_t ttl = 0;
    std::uint64_t extensions = 0;
    store_time heard = 0;  ///< The last sign of life of a coordinator.

    std::uint64_t waiting = 0;  ///< Messages in the inbox.
    std::int64_t waits = 0;     ///< Milliseconds that the first of them has waited.
};

}  // namespace chat

#endif
