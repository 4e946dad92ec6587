#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_OPTIONS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_OPTIONS_HPP

#include <redlock/config.hpp>
#include <redlock/time.hpp>

#include "chat_room/protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace chat {

/// The command-line options of a server.
struct options
{
    std::string address = "127.0.0.1";  ///< To listen on.
    std::uint16_t port = 8080;          ///< 0: any free port.
    std::string name;                   ///< Of the server, unique among all.
    std::vector<redlock::node_config> nodes;
    redlock::milliseconds node_timeout{200};
    redlock::node_config store;
    redlock::milliseconds ttl{3000};  ///< Of the lease of a coordinator.
    std::filesystem::path page;       ///< Directory with the files of the page.
    std::vector<std::string> allowed_origins;
    std::vector<std::string> allowed_hosts;  ///< Names that browsers may use for this server.
    std::vector<std::string> peers;          ///< Where browsers reach the other servers.
    talking_rate rate{50, 100};
    std::size_t max_rooms = 200;
    std::size_t max_members = 1000;
    std::size_t history = 10'000;               ///< Messages that the log of a room keeps.
    std::filesystem::path stall_before_append;  ///< For tests. Empty: never.
    std::string unfenced;                       ///< For the demo: a room with a copy, or empty.
    std::string controls;                       ///< Of the demo: a WebSocket, or empty.

    /// The copy without a fence of a room, empty if it has none.
    [[nodiscard]] std::string copy_of(const std::string& room) const
    {
        return !room.empty() && room == unfenced ? room + "-without-fence" : "";
    }

    /// Whether a room is such a copy.
    [[nodiscard]] bool is_copy(const std::string& room) const
    {
        return !unfenced.empty() && room == copy_of(unfenced);
    }
};

/** Reads the command line.

    @return The options, or the exit status if there is nothing more to do: after `--help`, and
    after an error, which has been printed.
*/
struct parsed_options
{
    std::optional<options> value;
    int exit_status = 0;
};

[[nodiscard]] parsed_options parse_options(int argc, char** argv);

}  // namespace chat

#endif
