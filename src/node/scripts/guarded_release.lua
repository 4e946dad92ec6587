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
--
-- The usual case first, as in guarded_acquire.lua.
local count, place, replies, answered = #KEYS, ARGV[1], {}, 0
local to_wake = {}
if #ARGV == 1 + 2 * count and not string.find(place, ':', 1, true) then
    local names, given_back = {}, {}
    for i = 1, count do
        names[i] = KEYS[i]
        names[count + i] = place ~= '-' and waits_prefix .. KEYS[i] or nil
    end
    local known = redis.pcall('MGET', unpack(names))
    for i = 1, count do
        local value = known[i]
        -- A key that is ours was set together with a fence of our token. That refuses the same
        -- acquisition if it arrives once more.
        if value and string.sub(value, 1, 40) == ARGV[2 * i] then
            answered = answered + 1
            given_back[answered] = KEYS[i]
            if known[count + i] then
                redis.pcall('ZREM', queue_prefix .. KEYS[i], place)
                to_wake[#to_wake + 1] = KEYS[i]
            end
            replies[i] = 1
        end
    end
    if answered > 0 then
        redis.call('DEL', unpack(given_back))
    end
end

if answered < count then
    --include queue.lua
    --include give_back.lua
    --include ours.lua
    local common, own, more, shared = 0, 2, 1, {}

    local function vote(key, id, token)
        if ours(redis.call('GET', key), id) then
            give_back(key, shared[1], token)
            return 1
        end
        bury(key, token, shared[1])
        return 0
    end
    --include vote_each.lua
end
--include wake.lua
return #KEYS == 1 and replies[1] or replies
