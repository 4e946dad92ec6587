-- Releases attempts that were lost, on nodes that still owe an answer to them.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     as of guarded_release.lua
-- returns  for each key: as guarded_release.lua
--
-- It follows its acquisition on the same connection, so the acquisition cannot arrive later and
-- needs no tombstone. A tombstone would refuse acquisitions of others that are under way. Should
-- the connection be lost before the answer, a release follows.
local to_wake = {}
--include queue.lua
--include give_back.lua
--include ours.lua
local common, own, more, shared, replies = 0, 2, 1, {}, {}

local function vote(key, id, token)
    local place = shared[1]
    if ours(redis.call('GET', key), id) then
        give_back(key, place, token)
        return 1
    end
    keep_or_leave(key, place, token, false)
    return 0
end
--include vote_each.lua
--include wake.lua
return #KEYS == 1 and replies[1] or replies
