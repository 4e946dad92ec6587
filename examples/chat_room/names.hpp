#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_NAMES_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_NAMES_HPP

#include <string_view>

namespace chat {

/** Whether a person may have this name.

    Everything in a name is visible and leaves the rest as it is: no control or format characters
    (which include direction marks), nothing of zero width, only single spaces between words, and at
    most two combining marks in a row. Otherwise one name could look like another. "You" is what the
    page calls its own member.

    @param name Valid UTF-8.
*/
[[nodiscard]] bool is_person_name(std::string_view name);

}  // namespace chat

#endif
