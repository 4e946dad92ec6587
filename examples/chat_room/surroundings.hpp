#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_SURROUNDINGS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_SURROUNDINGS_HPP

#include "chat_room/metrics.hpp"
#include "chat_room/options.hpp"
#include "chat_room/store.hpp"

namespace redlock {

class client;

}  // namespace redlock

namespace chat {

/// What all parts of a server share. It outlives them.
struct surroundings
{
    const options& how;
    redlock::client& locks;
    store& data;
    metrics& counts;
};

}  // namespace chat

#endif
