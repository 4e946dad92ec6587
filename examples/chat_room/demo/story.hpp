#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_STORY_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_STORY_HPP

#include "chat_room/client/scripted_member.hpp"
#include "chat_room/stage/stage.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace chat {

/// How long the lease of a coordinator lives in the story.
inline constexpr std::chrono::milliseconds story_ttl{2000};

/// Two members on two of three servers, in one room.
struct company
{
    explicit company(const asio::any_io_executor& executor);

    /// Lets each of them say something this many times.
    void talk(std::size_t times);

    stage on;
    scripted_member ada;
    scripted_member bob;
    std::size_t said = 0;
};

// The story in order. Each step prints what it does, and throws if something ends differently.
asio::awaitable<void> everybody_joins(company& in);
asio::awaitable<void> coordinator_killed(company& in);
asio::awaitable<void> coordinator_stopped_before_append(company& in);
asio::awaitable<void> nodes_lost(company& in);
asio::awaitable<void> all_is_there(company& in);

/// Lets the members leave.
asio::awaitable<void> everybody_leaves(company& in);

}  // namespace chat

#endif
