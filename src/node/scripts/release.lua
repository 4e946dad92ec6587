-- Compare and delete: gives resources back.
--
-- Questions share a script, because entering a script costs as much as one of them. One alone is
-- answered by itself, several are answered with a list.
--
-- KEYS     the lock keys
-- ARGV     for each key: the attempt id
-- returns  for each key: 1 if it was ours and is deleted, 0 if it was not there or not ours, or
--          an error
--
-- A script, because nothing may set a key between the comparison and the deletion. An error (the
-- key has another type, no permission) comes from the first command, before anything changed.
--include ours.lua
local common, own, more = 0, 1, 0

local function vote(key, id)
    if ours(redis.call('GET', key), id) then
        return redis.call('DEL', key)
    end
    return 0
end
--include vote_each.lua
