#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_NAMES_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_NAMES_HPP

#include <string_view>

namespace chat {

/** Whether a person may be called so.

    Everything in a name can be seen, and leaves the rest as it is: no control and format
    characters, among them direction marks, nothing of zero width, no blank but a single one between
    words, and at most two combining marks in a row. Otherwise one name could look like another.
    "You" is what the page calls its own member.

    @param name Valid UTF-8.
*/
[[nodiscard]] bool is_person_name(std::string_view name);

}  // namespace chat

#endif
