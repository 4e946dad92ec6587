#ifndef REDLOCK_SRC_CORE_HOLD_VALUE_HPP
#define REDLOCK_SRC_CORE_HOLD_VALUE_HPP

#include <redlock/fencing.hpp>
#include <redlock/note.hpp>

#include <cstdint>
#include <string_view>

namespace redlock::core {

/** The value of a lock key.

    "id token client flags stamp note", see ours.lua, or only an id: in plain mode, from an older
    version, and whatever another library has written. A release that keeps the resource, see
    `acquire_options::at_least`, puts the word "kept" in place of the id.

    verbs.cpp makes it and guarded_acquire.lua sets it, after a look at the token, at its columns.
    guarded_extend.lua, guarded_restore.lua, guarded_revoke.lua and guarded_keep.lua make or change
    parts of it, and the fake server does what they do. views.cpp and free_kept.cpp read it. A new
    field goes before the note, which may have any bytes. It makes older values unreadable: they are
    read as only an id.
*/
struct hold_value
{
    /// The holder's: a part of the text that was read. For a kept resource it includes the token,
    /// because one that is kept after a different hold is a different one.
    std::string_view id{};
    fencing_token token{};  ///< Empty if the value is only an id.
    /// Its name in queues, "-" if it polls, "--" until guarded_restore.lua has put it back. Also a
    /// part of the text.
    std::string_view client{};
    bool revoked = false;
    bool kept = false;        ///< The hold has been released.
    std::uint64_t stamp = 0;  ///< Of the note.
    redlock::note note{};
};

/// Never fails, because a text of any other form is an id.
[[nodiscard]] hold_value read_hold_value(std::string_view text);

}  // namespace redlock::core

#endif
