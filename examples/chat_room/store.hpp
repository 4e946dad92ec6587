#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_STORE_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_STORE_HPP

#include <redlock/config.hpp>
#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include "chat_room/room_data.hpp"
#include "chat_room/store_errors.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace chat {

namespace asio = boost::asio;

/// What became of the messages that were in an inbox.
struct append_result
{
    std::size_t appended = 0;
    std::size_t repeated = 0;  ///< Were in the log already.
    bool more = false;         ///< There may be more in the inbox.
};

/// Up to where a server has read the streams of a room.
struct position
{
    std::string room;
    std::uint64_t seq = 0;     ///< Of the log.
    std::string coordinators;  ///< An id in the list of coordinators.
    std::string inbox{};       ///< An id in the inbox. Empty: not ours to look after.
};

/// What came after a position.
struct news
{
    std::string room;
    std::vector<message> messages{};
    std::vector<coordinator_entry> coordinators{};
    std::string last_inbox{};  ///< The new position in the inbox, empty: as before.
};

/** The rooms, as a Redis that isn't a lock node keeps them.

    Everything with a fencing token throws `stale_coordinator` if the room has seen a higher one.
    Everything that asks the server throws `store_failure` if it fails, within a few seconds. It
    isn't cancelled with its caller, or nobody would know what became of it.

    @par Thread safety
    None: everything runs on one implicit strand.
*/
class store
{
public:
    /// @param kept Messages in the log of a room.
    store(asio::any_io_executor executor, const redlock::node_config& where, std::size_t kept);
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    ~store();

    /// Connects, and connects again, until `stop()`. @param on_change Called when `is_up` changes.
    void start(std::function<void()> on_change);
    void stop();

    /// Whether the server answered when it was last asked.
    [[nodiscard]] bool is_up() const noexcept;

    /// Puts a message into the inbox of a room, and of its copy if that is not empty. Throws
    /// `inbox_full`.
    asio::awaitable<void> say(std::string room, std::string copy, said what);

    /// Messages that are read from a log at once: at most 160 kB. While it parses the reply, this
    /// server does nothing else.
    static constexpr std::size_t page_size = 20;

    /// Reads the first messages after `after`, a page of them at most. On a separate connection, so
    /// that long replies don't delay others.
    asio::awaitable<std::vector<message>> read(std::string room, std::uint64_t after);

    /// The recent coordinators of a room, oldest first.
    asio::awaitable<std::vector<coordinator_entry>> coordinators(std::string room);

    /// How many members of a room a server has.
    struct presence
    {
        std::string room;
        std::size_t members = 0;
    };

    /// Reports the members of rooms, and returns the status of the rooms in the same order.
    asio::awaitable<std::vector<room_status>> status(
        std::string server,
        std::vector<presence> rooms
    );

    /// What a coordinator says of its lease.
    struct tenure
    {
        std::string room;
        redlock::fencing_token fence;
        std::string server;
        redlock::milliseconds ttl{};
        redlock::milliseconds remaining{};
        std::uint64_t extensions = 0;
        std::uint64_t number = 0;        ///< What `enter` has returned.
        redlock::milliseconds silent{};  ///< Since its last access.
    };

    /// @return The number of the coordinator in the room, from 1.
    asio::awaitable<std::uint64_t> enter(tenure by);
    asio::awaitable<void> renew(tenure by);
    asio::awaitable<void> leave(tenure by);

    /// Moves messages from the inbox to the log, as many as fit at once, and writes what `look` has
    /// seen.
    asio::awaitable<append_result> append(tenure by, unfenced_copy also = {});

    /// Reads what the inbox of a copy has and its log has not. @param copy Empty: nothing is read.
    asio::awaitable<unfenced_copy> look(std::string copy);

    /// Waits for news of rooms, for a moment. Also on a separate connection.
    asio::awaitable<std::vector<news>> follow(std::vector<position> from);

    /// Ends `follow` early, because its rooms have changed.
    asio::awaitable<void> interrupt_follow();

private:
    struct connections;

    std::shared_ptr<connections> connections_;
    std::size_t kept_;
};

}  // namespace chat

#endif
