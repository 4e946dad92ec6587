#ifndef REDLOCK_TEST_CHAT_VISITOR_HPP
#define REDLOCK_TEST_CHAT_VISITOR_HPP

#include "chat_room/client/connection.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "chat/fixture.hpp"

namespace redlock::test {

/// A connection to a server, frame by frame. What the server tells unasked is left out.
class visitor
{
public:
    visitor(chat_fixture& f, std::size_t server);

    void send(std::string text);
    void send_binary(std::string bytes);

    /// Joins the lobby. @param more Members of the message, such as `"tail":5`.
    boost::json::object join(const std::string& more = {});

    /// Says something, with an id of its own.
    void say(const std::string& text);

    /// Waits for a message of one of these types.
    boost::json::object next_of(const std::vector<std::string>& types);
    boost::json::object next(const std::string& type) { return next_of({type}); }

    /// Waits until the server closes. @return Its code.
    unsigned closed();

private:
    chat_fixture& f_;
    chat::connection link_;
    std::size_t said_ = 0;
};

}  // namespace redlock::test

#endif
