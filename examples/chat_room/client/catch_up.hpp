#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_CATCH_UP_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_CLIENT_CATCH_UP_HPP

#include "chat_room/client/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace chat {

/** Joins a room and reads up to the last message that was there, like a member who comes late.

    Throws `connection_closed` if the connection ends, and `std::runtime_error` if the room refuses
    it, or if a message is missing.

    @param port Of a server on this machine.
    @param tail How many of the last messages to ask for.
    @return How many came.
*/
asio::awaitable<std::size_t> catch_up(std::uint16_t port, std::string room, std::size_t tail);

}  // namespace chat

#endif
