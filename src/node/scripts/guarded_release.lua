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
--include ours.lua
local common, own, more, shared = 0, 2, 1, {}

-- An acquisition that waits on keeps its place, although a grant of this node was worth nothing.
local function waits_on(place)
    return string.find(place, ':', 1, true)
end

local function keep_or_leave(key, place)
    if waits_on(place) then
        local time = redis.call('TIME')
        queue().enter(key, place, time[1] * 1000000 + time[2])
    elseif place ~= '' then
        redis.pcall('ZREM', queue_prefix .. key, place)
    end
end

-- Without the flag nobody waits, so the client is in no queue that it could leave.
local function give_back(key, place)
    if place == '-' then
        return redis.call('DEL', key)
    end
    local flagged = redis.call('DEL', key, waits_prefix .. key) == 2
    if flagged or waits_on(place) then
        keep_or_leave(key, place)
    end
    if flagged then
        queue().wake_next(key)
    end
end

local function vote(key, id, token)
    local place = shared[1]
    -- A key that is ours was set together with a fence of our token. That refuses the same
    -- acquisition if it arrives once more.
    if ours(redis.call('GET', key), id) then
        give_back(key, place)
        return 1
    end
    if place ~= '-' then
        keep_or_leave(key, place)
    end

    -- The acquisition may arrive after its release, for two connections are not ordered. A
    -- tombstone, a fence of the same token, refuses it then. A token from the future is left alone:
    -- the window refuses its acquisition, and as a fence it would stop everybody else.
    local fence_key = fence_prefix .. key
    local fence = redis.call('GET', fence_key)
    if fence and fence + 0 >= token + 0 then
        return 0
    end
    local time = redis.call('TIME')
    if token - (time[1] * 1000000 + time[2]) <= window then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
    end
    return 0
end
--include vote_each.lua
