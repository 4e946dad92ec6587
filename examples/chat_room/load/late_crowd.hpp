#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_LOAD_LATE_CROWD_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_LOAD_LATE_CROWD_HPP

#include <cstddef>

namespace chat {

struct late_crowd_options
{
    std::size_t joiners = 0;
    std::size_t history = 2000;  ///< Messages of the greatest length in the room that they join.
    std::size_t servers = 3;
};

/** Lets many join a room with a long history at once, while two talk in another room, and prints
    what the two noticed as JSON.

    @return Whether the joiners got the history, and the two noticed nothing but a small delay.
*/
[[nodiscard]] bool run_late_crowd(const late_crowd_options& how);

}  // namespace chat

#endif
