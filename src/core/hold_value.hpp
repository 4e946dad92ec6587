#ifndef REDLOCK_SRC_CORE_HOLD_VALUE_HPP
#define REDLOCK_SRC_CORE_HOLD_VALUE_HPP

#include <redlock/fencing.hpp>
#include <redlock/note.hpp>

#include <cstdint>
#include <string_view>

namespace redlock::core {

/** The value of a lock key.

    "id token client flags stamp note", see ours.lua, or an id alone: that of plain mode, of an
    older version, and whatever another library has written.

    guarded_acquire.lua writes it. guarded_extend.lua and guarded_revoke.lua change parts of it, and
    the fake server does what they do. A further field goes before the note, which may have any
    bytes, and makes values of before unreadable: they become an id alone.
*/
struct hold_value
{
    std::string_view id{};      ///< Of the holder. A part of the text that was read.
    fencing_token token{};      ///< Empty: an id alone.
    std::string_view client{};  ///< Its name in queues, "-" if it polls. A part of the text too.
    bool revoked = false;
    std::uint64_t stamp = 0;  ///< Of the note.
    redlock::note note{};
};

/// Never fails: a text of any other form is an id.
[[nodiscard]] hold_value read_hold_value(std::string_view text);

}  // namespace redlock::core

#endif
