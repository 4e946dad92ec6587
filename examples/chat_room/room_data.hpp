#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_DATA_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_DATA_HPP

#include <redlock/fencing.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace chat {

/// Milliseconds since 1970 on the clock of the store.
using store_time = std::int64_t;

/// What a member says.
struct said
{
    std::string id;  ///< Made by the member: the same, if it has to say it again.
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
};

/// One entry in the list of a room's coordinators: one began, or handed over by itself.
struct coordinator_entry
{
    std::string id;  ///< Of the entry.
    redlock::fencing_token fence;
    std::string server;                ///< Empty: the coordinator left.
    store_time since = 0;              ///< When it began.
    std::optional<store_time> ended;   ///< When it left, or when its predecessor's lease ended.
    redlock::fencing_token before;     ///< Its predecessor.
};

/// What the store knows of a room at one moment.
struct room_status
{
    store_time now = 0;
    store_time began = 0;  ///< When its log did. Another time: the store has lost the one before.
    std::uint64_t members = 0;
    std::uint64_t first = 1;    ///< Lowest sequence number that the log keeps.
    std::uint64_t last = 0;     ///< Highest sequence number.
    std::uint64_t refused = 0;  ///< Stale writes.

    std::string server;  ///< Of the last coordinator, empty if there was none.
    redlock::fencing_token fence;
    store_time since = 0;
    store_time until = 0;  ///< As long as it is later than `now`, the coordinator is in charge.
    std::int64_t ttl = 0;
    std::uint64_t extensions = 0;
};

}  // namespace chat

#endif
