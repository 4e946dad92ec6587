-- Deletes keys that are ours, and makes sure that their attempts cannot set them any more.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     for each key: the attempt id, the token of the attempt; shared: the place. See
--          vote_each.lua
-- place    of the acquisition that waits on, see queue.lua; without an arrival if none does; '' if
--          the client has no place in the queue; '-' from clients that poll, which wake nobody
-- returns  for each key: 1 if it was ours and is deleted, 0 if it was not there or not ours, or
--          an error
--
-- A script, because nothing may set the key between the comparison and the deletion. Asks for no
-- permission to vote: giving back is always right.
--include queue.lua
--include give_back.lua
--include ours.lua
local common, own, more, shared = 0, 2, 1, {}

local function vote(key, id, token)
    local place = shared[1]
    -- A key that is ours was set together with a fence of our token. That refuses the same
    -- acquisition if it arrives once more.
    if ours(redis.call('GET', key), id) then
        give_back(key, place, token)
        return 1
    end
    bury(key, token, place)
    return 0
end
--include vote_each.lua
