#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_ROOM_HPP

#include "chat_room/coordinator.hpp"
#include "chat_room/protocol.hpp"
#include "chat_room/room_data.hpp"
#include "chat_room/store.hpp"
#include "chat_room/surroundings.hpp"
#include "chat_room/timing.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace chat {

/// A listener in a room.
class member
{
public:
    virtual ~member() = default;

    /// The room has messages that the member has not seen.
    virtual void on_messages() = 0;

    /// A frame that the member must get.
    virtual void on_event(frame what) = 0;

    /// A frame that the member gets unless there is a newer one.
    virtual void on_status(frame what) = 0;

    /// The room has lost its data: the member has to join again.
    virtual void on_lost() = 0;
};

/** A room with members on this server: follows its log, and competes to be its coordinator.

    It keeps the last messages in the form that members get. Members that want older ones read the
    log.
*/
class room
{
public:
    /// @param status What the store says of the room now.
    room(
        surroundings with,
        const asio::any_io_executor& executor,
        std::string name,
        const room_status& status,
        const std::vector<coordinator_entry>& coordinators,
        std::function<void()> on_change
    );

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    void add(member& who) { members_.insert(&who); }
    void remove(member& who) { members_.erase(&who); }
    [[nodiscard]] std::size_t members() const noexcept { return members_.size(); }

    /// Sequence number of the last message that this server has seen.
    [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

    /// A recent message. Null if it isn't recent.
    [[nodiscard]] frame recent(std::uint64_t seq) const;

    /// The recent coordinators, oldest first.
    [[nodiscard]] const std::vector<term>& terms() const noexcept { return terms_; }

    /// The recent writes that the room has refused, oldest first.
    [[nodiscard]] const std::vector<refused_write>& refusals() const noexcept { return refusals_; }

    /// Up to where the room has read its streams.
    [[nodiscard]] position reached() const;

    void on_news(const news& what);

    /// A member of this server said something, and the inbox has it.
    void on_said(const std::string& id, delivery_times::clock::time_point when)
    {
        deliveries_.on_said(id, when);
    }

    /// @param status Empty while the store is down.
    void on_status(const std::optional<room_status>& status, const std::vector<told_node>& nodes);

    /// Whether the store has lost what this room has seen.
    /// @param seen What `last()` was when the store was asked.
    [[nodiscard]] bool is_lost(const room_status& status, std::uint64_t seen) const;

    /// Disconnects its members, to join the room that starts over. Ends as with `stop()`.
    void on_lost();

    /// Competes to be the coordinator, until `stop()`.
    asio::awaitable<void> run() { return coordinator_.run(); }
    void stop() { coordinator_.stop(); }

private:
    void add_message(const message& what);
    void add_coordinator(const coordinator_entry& what);
    void add_refusal(const refused_write& what);
    void measure(const coordinator_entry& what) const;
    [[nodiscard]] term* find_term(redlock::fencing_token fence);

    surroundings with_;
    std::string name_;
    store_time opened_;  ///< On this server.
    store_time began_;   ///< Its log.
    std::set<member*> members_;
    std::uint64_t last_;
    std::deque<frame> recent_;  ///< The last of them is that of `last_`.
    std::vector<term> terms_;
    std::vector<refused_write> refusals_;
    std::string last_coordinator_ = "0";  ///< Id of the last entry in the list of coordinators.
    std::string last_inbox_ = "0";
    delivery_times deliveries_;
    coordinator coordinator_;
};

}  // namespace chat

#endif
