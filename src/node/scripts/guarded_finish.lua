-- Releases holds that were extended, as guarded_release.lua, and marks them as over: an extension
-- that arrives later would take the hold again.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     as of guarded_release.lua
-- returns  for each key: as guarded_release.lua
--
-- The mark comes last: Redis refuses a write for want of memory only at the beginning, and a key
-- that is ours is deleted even then. It is read first: where that isn't allowed, nothing is done.
local to_wake = {}
--include queue.lua
--include give_back.lua
--include over.lua
--include ours.lua
local common, own, more, shared, replies = 0, 2, 1, {}, {}

local function vote(key, id, token)
    local place, mark = shared[1], over(key, token)
    local found = ours(redis.call('GET', key), id)
    if found then
        give_back(key, place, token)
    else
        bury(key, token, place)
    end
    mark.set('released')
    return found and 1 or 0
end
--include vote_each.lua
--include wake.lua
return #KEYS == 1 and replies[1] or replies
