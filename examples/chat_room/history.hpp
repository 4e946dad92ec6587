#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_HISTORY_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_HISTORY_HPP

#include "chat_room/event.hpp"
#include "chat_room/room_data.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace chat {

/// A member that wants messages that were said before.
class history_reader
{
public:
    virtual ~history_reader() = default;

    /// What came after the message that was asked about. Never empty.
    virtual void on_page(std::vector<message> page) = 0;
};

/** Reads the logs of rooms for members that have to catch up.

    It reads one page at a time. A reader that wants the next one joins the end of the queue again.
    So a hundred readers are no more work for the store and the server than one: they wait longer.
*/
class history
{
public:
    /// Reads the next page of a room's log, from behind a sequence number.
    using read_function =
        std::function<asio::awaitable<std::vector<message>>(std::string room, std::uint64_t after)>;

    history(asio::any_io_executor executor, read_function read);
    history(const history&) = delete;
    history& operator=(const history&) = delete;

    /// Asks for one page. The reader must not ask again before it has it.
    void ask(history_reader& who, std::string room, std::uint64_t after);

    /// Drops what a reader has asked for, if anything.
    void forget(const history_reader& who);

    /// Reads, until `stop()`. A page that cannot be read now is read later.
    asio::awaitable<void> run();
    void stop();

private:
    struct request
    {
        history_reader* who;
        std::string room;
        std::uint64_t after;
    };

    asio::awaitable<std::vector<message>> read(request what);

    asio::any_io_executor executor_;
    read_function read_;
    std::deque<request> line_;
    history_reader* served_ = nullptr;  ///< Whose page is being read. Null: it is gone.
    event asked_;
    bool stopped_ = false;
};

}  // namespace chat

#endif
