-- What a release does to the queue and to the fence. Not a script by itself. Needs queue.lua.
--
-- to_wake  gets the lock keys that somebody waits for

-- An acquisition that waits on keeps its place, although a grant of this node was worth nothing.
local function waits_on(place)
    return string.find(place, ':', 1, true)
end

-- The token of one that waits on is good if this node has granted it, or is in the window.
local function keep_or_leave(key, place, token, granted)
    if waits_on(place) then
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local good = granted or math.abs(token - now) <= window
        enter(key, place, good and token + 0, now)
    elseif place ~= '' and place ~= '-' then
        redis.pcall('ZREM', queue_prefix .. key, place)
    end
end

-- Deletes the key. Without the flag nobody waits, so the client is in no queue that it could leave.
local function give_back(key, place, token)
    if place == '-' then
        return redis.call('DEL', key)
    end
    local flagged = redis.pcall('PEXPIRE', waits_prefix .. key, queue_ttl) == 1
    redis.call('DEL', key)
    if flagged or waits_on(place) then
        keep_or_leave(key, place, token, true)
    end
    if flagged then
        to_wake[#to_wake + 1] = key
    end
end

-- The key is not ours. Its acquisition may arrive after its release, for two connections are not
-- ordered. A tombstone, a fence of the same token, refuses it then. A token from the future is left
-- alone: the window refuses its acquisition, and as a fence it would stop everybody else.
local function bury(key, token, place)
    keep_or_leave(key, place, token, false)
    local fence_key = fence_prefix .. key
    local fence = redis.call('GET', fence_key)
    if fence and fence + 0 >= token + 0 then
        return
    end
    local time = redis.call('TIME')
    if token - (time[1] * 1000000 + time[2]) <= window then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
    end
end
