#ifndef REDLOCK_EXAMPLES_DEMO_STORY_HPP
#define REDLOCK_EXAMPLES_DEMO_STORY_HPP

#include <redlock.hpp>

#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

namespace demo {

// The steps of the story, in order. Each one prints what it does, and throws if something doesn't
// end as printed.

// one_resource.cpp
asio::awaitable<void> everybody_connects(stage& on);
asio::awaitable<redlock::lease> first_lock(stage& on);
asio::awaitable<void> second_client_denied(stage& on);
asio::awaitable<redlock::lease> second_client_waits(stage& on, redlock::lease held_by_first);
asio::awaitable<void> extend(redlock::lease& held);

// failing_nodes.cpp
asio::awaitable<void> two_nodes_killed(stage& on, redlock::lease held_by_second);
asio::awaitable<void> third_node_killed(stage& on);
asio::awaitable<void> nodes_back(stage& on);

// taking_over.cpp
asio::awaitable<void> holder_killed(stage& on);

}  // namespace demo

#endif
