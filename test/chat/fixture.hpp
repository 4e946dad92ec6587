#ifndef REDLOCK_TEST_CHAT_FIXTURE_HPP
#define REDLOCK_TEST_CHAT_FIXTURE_HPP

#include "chat_room/client/connection.hpp"
#include "chat_room/client/scripted_member.hpp"
#include "chat_room/stage/stage.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace redlock::test {

/// Servers, and members that talk to them. Everything on the side of the members runs in this
/// thread, while a test waits for something.
class chat_fixture
{
public:
    explicit chat_fixture(chat::stage_options how = {});
    chat_fixture(const chat_fixture&) = delete;
    chat_fixture& operator=(const chat_fixture&) = delete;
    ~chat_fixture();

    /// A member of a room that prefers a server, and waits until it has joined.
    chat::scripted_member& add(
        const std::string& name,
        std::size_t server,
        const std::string& room = "lobby"
    );

    /// Waits until all members have heard all that was said. @return Whether they have.
    [[nodiscard]] bool all_heard(std::chrono::milliseconds limit = std::chrono::seconds(20));

    /// The server that became the coordinator of a member's room last. Waits for the first one.
    [[nodiscard]] chat::server_process& coordinator_of(const chat::scripted_member& who);

    /// Waits until a member is told of another coordinator than that. @return How long it took.
    [[nodiscard]] std::optional<std::chrono::milliseconds> takeover(
        const chat::scripted_member& by,
        std::size_t coordinators_before
    );

    /// Refused stale writes of a room, as the store counts them.
    [[nodiscard]] long refused(const std::string& room = "lobby");

    chat::stage on;
    boost::asio::io_context context;
    std::deque<chat::scripted_member> members;
};

/// Checks that each member heard the same, every message once, with numbers from 1 without gaps.
void check_histories(const std::deque<chat::scripted_member>& members, std::size_t said);

}  // namespace redlock::test

#endif
