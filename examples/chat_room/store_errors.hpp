#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_STORE_ERRORS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_STORE_ERRORS_HPP

#include <stdexcept>

namespace chat {

/// The store did not do what it was asked, as far as we know.
class store_failure : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// The room has seen a higher fencing token: another server is its coordinator.
class stale_coordinator : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// The room has had no coordinator for a long time, and takes no more messages.
class inbox_full : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

}  // namespace chat

#endif
