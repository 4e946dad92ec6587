#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_PROTOCOL_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_PROTOCOL_HPP

#include <redlock/node_status.hpp>

#include "chat_room/limits.hpp"
#include "chat_room/room_data.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace chat {

// The JSON messages of examples/chat_room/README.md.

/// A message as it goes to members. All members of a room share one.
using frame = std::shared_ptr<const std::string>;

/// Why something was not done. The names are those of the protocol.
enum class problem : std::uint8_t
{
    bad_json,
    bad_type,
    bad_field,
    too_long,
    binary,
    not_joined,
    already_joined,
    too_many_rooms,
    too_many_members,
    rate,
    store_down,
    inbox_full,
};

[[nodiscard]] const char* to_string(problem value) noexcept;

/// Why a client's message is refused.
struct refusal
{
    problem why;
    std::string text;  ///< For people.
    std::string id{};  ///< Of the message that was refused, if it has one.
};

struct join_request
{
    std::string room;
    std::string name;
    std::uint64_t after = 0;            ///< The last sequence number that the client has,
    std::uint64_t began = 0;            ///< of a log that began then. 0: it does not say.
    std::uint64_t tail = limits::tail;  ///< How many of the last messages it wants.
};

struct say_request
{
    std::string id;
    std::string text;
};

/// Asks for what was said before a message.
struct older_request
{
    std::uint64_t before = 0;
};

/// Reads what a client sent. @param text Valid UTF-8.
[[nodiscard]] std::variant<join_request, say_request, older_request, refusal> parse(
    std::string_view text
);

/// How fast a member may talk.
struct talking_rate
{
    unsigned per_second;
    unsigned burst;
};

struct hello
{
    std::string server;
    std::int64_t ttl;
    talking_rate rate;
    std::vector<std::string> peers;  ///< Where the other servers are.
    std::string controls;            ///< Of the demo, empty elsewhere.
};

/// A coordinator of a room, as a timeline shows it.
struct term
{
    std::string server;
    redlock::fencing_token fence;
    std::uint64_t number = 0;  ///< In the room, from 1.
    store_time since = 0;
    std::optional<store_time> until;    ///< Empty: its lease lives, as far as anybody knows.
    bool left = false;                  ///< Whether it handed over by itself.
    std::optional<store_time> heard{};  ///< Its last sign of life. Empty: it is not over.
    std::optional<span> empty{};        ///< When nobody was in the room, before it began.
};

[[nodiscard]] frame make_frame(const hello& what);
[[nodiscard]] frame make_frame(const message& what);
[[nodiscard]] frame make_frame(const refusal& what);
[[nodiscard]] frame make_older(std::uint64_t before, const std::vector<message>& page);
[[nodiscard]] frame make_accepted(const std::string& id);
[[nodiscard]] frame make_welcome(
    const std::string& server,
    const join_request& joined,
    const room_status& status,
    const std::vector<term>& terms,
    const std::vector<refused_write>& refusals
);

[[nodiscard]] frame make_refusal(const refused_write& what);

/// A lock node, as members see it.
struct told_node
{
    redlock::node_status status;
    std::optional<std::int64_t> votes_in{};  ///< Milliseconds, at most. Empty: not in quarantine.
};

/// @param previous The term before; null if there was none.
[[nodiscard]] frame make_coordinator(const term& what, const term* previous);

/// @param status Empty while the store is down.
[[nodiscard]] frame make_status(
    const std::string& server,
    const std::optional<room_status>& status,
    const std::vector<told_node>& nodes
);

}  // namespace chat

#endif
