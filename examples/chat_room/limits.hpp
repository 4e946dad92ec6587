#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_LIMITS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_LIMITS_HPP

#include <chrono>
#include <cstddef>

namespace chat::limits {

// Of names and texts in Unicode code points.
inline constexpr std::size_t text = 2000;
inline constexpr std::size_t name = 32;
inline constexpr std::size_t room = 32;
inline constexpr std::size_t id = 64;

/// Bytes of a frame. The longest text fits, even if all of it is escaped.
inline constexpr std::size_t frame = 16'384;

/// Bytes of the head of an HTTP request, and of its body, which nobody needs.
inline constexpr std::size_t http_head = 8'192;
inline constexpr std::size_t http_body = 1'024;

/// Messages that wait in the inbox of a room for a coordinator.
inline constexpr std::size_t inbox = 10'000;

/// Earlier messages that a member can ask for when it joins.
inline constexpr std::size_t tail = 10'000;

/// Connections that have not joined a room. One more ends the one that has waited longest.
inline constexpr std::size_t waiting_connections = 256;

/// Answers that wait for a member to read them. At this many, the server stops reading too.
inline constexpr std::size_t waiting_answers = 64;

/// How long a connection may take to ask for something, to join, and to read a message.
inline constexpr std::chrono::seconds patience{10};

}  // namespace chat::limits

#endif
