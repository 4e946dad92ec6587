-- Deletes keys that are ours, and makes sure that their attempts cannot set them any more.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     for each key: the attempt id, the token of the attempt; from clients that queue, which
--          wake who waits, also the place of the acquisition that goes on waiting, see queue.lua;
--          with 0 for its arrival if none does; '' if the client has no place in the queue
-- returns  for each key: 1 if it was ours and is deleted, 0 if it was not there or not ours, or
--          an error
--
-- A script, because nothing may set the key between the comparison and the deletion. Asks for no
-- permission to vote: giving back is always right.
--include queue.lua
--include ours.lua

-- An acquisition that waits on keeps its place, although a grant of this node was worth nothing.
local function waits_on(place)
    return place ~= '' and not string.find(place, ':0', 1, true)
end

local function keep_or_leave(key, place)
    if waits_on(place) then
        local time = redis.call('TIME')
        queue().enter(key, place, time[1] * 1000000 + time[2])
    elseif place ~= '' then
        redis.pcall('ZREM', queue_prefix .. key, (queue().parts(place)))
    end
end

-- Where the flag is not set nobody waits, so the client has no place that it could leave.
local function give_back(key, place)
    if not place then
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

local function vote(key, id, token, place)
    -- A key that is ours was set together with a fence of our token. That refuses the same
    -- acquisition if it arrives once more.
    if ours(redis.call('GET', key), id) then
        give_back(key, place)
        return 1
    end
    if place then
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

local common = 0
--include vote_each.lua
