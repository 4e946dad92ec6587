#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_STORE_REPLIES_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_STORE_REPLIES_HPP

#include <redlock/fencing.hpp>

#include "chat_room/room_data.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chat {

/// A reply of the store, or a part of one.
struct reply
{
    std::string text;
    std::vector<reply> parts;
};

template <class Number = std::int64_t>
Number number(std::string_view text)
{
    Number result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

/// The id of an entry in a stream.
const std::string& id_of(const reply& entry);

/// An entry in the log of a room.
message read_message(const reply& entry);

/// An entry in the list of its coordinators.
coordinator_entry read_coordinator(const reply& entry);

/// What scripts/status.lua returns.
room_status read_status(const reply& from);

}  // namespace chat

#endif
