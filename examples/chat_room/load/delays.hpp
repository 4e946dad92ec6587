#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_LOAD_DELAYS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_LOAD_DELAYS_HPP

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace chat {

/// A text that says when it was said, on the clock of this machine.
[[nodiscard]] std::string text_of_now();

/// How long messages took to reach those who hear them.
class delays
{
public:
    /// @param text From `text_of_now`.
    void add(const std::string& text);

    /// The delay that a part of the messages did not exceed, in ms. 0 if there is none.
    [[nodiscard]] double percentile(double part) const;

    [[nodiscard]] boost::json::object to_json() const;

private:
    std::vector<std::int64_t> took_us_;
};

}  // namespace chat

#endif
