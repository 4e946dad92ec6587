-- Whether the value of a lock key says that it is ours. Not a script by itself.
--
-- A value is the attempt id alone, or "id token client flags stamp note": the token of the
-- acquisition; the name of the client in queues, '-' if it polls, '--' if an extension has taken
-- the hold again and guarded_restore.lua hasn't put it back; 1 if the hold is revoked, else 0;
-- the stamp of the note; and the note, which may be empty and may have any bytes. A release that
-- keeps the resource puts "kept" in place of the id, which is nobody's.
local function ours(value, id)
    return value and (value == id or string.find(value, id .. ' ', 1, true) == 1)
end
