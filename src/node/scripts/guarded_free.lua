-- Deletes keys that releases have kept, see guarded_keep.lua, and no others.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     for each key: the token of the latest hold to free
-- returns  for each key: 1 if it was kept after that hold or an earlier one, and is deleted, 0 if
--          it was not, or an error
--
-- The token, because the command may arrive late: what a later hold keeps is not meant. The mark,
-- because a release that keeps the resource may arrive late.
--
-- A script, because a key may be acquired between the comparison and the deletion.
local to_wake = {}
--include queue.lua
--include give_back.lua
--include over.lua
local common, own, more, shared, replies = 0, 1, 0, {}, {}

local function vote(key, token)
    local mark = over(key, token)
    local value = redis.call('GET', key)
    local kept = value and string.match(value, '^kept (%d+) ')
    local found = kept and kept + 0 <= token + 0
    if found then
        give_back(key, '')
    end
    mark.set('freed')
    return found and 1 or 0
end
--include vote_each.lua
--include wake.lua
return #KEYS == 1 and replies[1] or replies
