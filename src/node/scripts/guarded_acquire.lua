-- Sets lock keys to values with attempt ids, if the node may vote, the resource is free and the
-- token new.
--
-- One question or several, as in release.lua. Constants of the client are in front, made by
-- src/node/guard.cpp: marker_key, quarantine_key, longest_quarantine, marker_begin, window,
-- fence_prefix, fence_ttl, and those of queue.lua. Arguments cost time, constants do not.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     how the marker ends, see guarded_head.lua; for each key: the attempt id, the token;
--          shared: the ttl in milliseconds, the place, the name of the client in queues or '-', the
--          note. See vote_each.lua and ours.lua
-- place    of the acquisition, see queue.lua; '' if it does not wait; without an arrival it has
--          arrived just now, as the token says; '-' from clients that poll
-- returns  for each key: the token, if the key is ours now, or was already, because a command
--          arrived twice. Otherwise {code, the token, a number, the node's time in microseconds},
--          or an error:
--           0  held          the number: pttl of the holder, or of the reservation for another
--                            client; -1 without a ttl. A fifth one: how many are before us in
--                            the queue, -1 if it is full, -2 if we are not in it
--          -1  fence         the number: the recorded token, which is not lower
--          -2  clock         the token is out of the window
--          -3  unmarked      the node lost its data, or is marked for other settings
--          -4  quarantined   the number: how much longer, in milliseconds
--
-- A script, because nothing may happen between looking and setting. An error says that our key was
-- not set: what can fail is the first write or comes before it. Redis may refuse a script for want
-- of memory at its first write, and not later.
--include guarded_head.lua
--include queue.lua
--include free.lua
--include ours.lua
local common, own, more, shared = 1, 2, 4, {}

-- A place with its arrival.
local function whole(place, token)
    return string.find(place, ':', 1, true) and place or place .. ':' .. token
end

local function value(id, token)
    return id .. ' ' .. token .. ' ' .. shared[3] .. ' 0 ' .. token .. ' ' .. shared[4]
end

local function vote(key, id, token)
    local stamp = token + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local ttl, place = shared[1], shared[2]
    local timely = in_window(stamp) and stamp
    local fence_key = fence_prefix .. key
    local reserved_key = reserved_prefix .. key
    local found = redis.call('MGET', fence_key, reserved_key)
    -- MGET does not see a key of another type. That has to be an error, and not a missing fence.
    local fence = found[1] or redis.call('GET', fence_key)
    local reserved = place ~= '-' and found[2]
    local held_off = reserved and holds_off(reserved, key, whole(place, token), timely, now)

    -- The usual case. NX is what looks for a holder, of whatever type its key is.
    if timely and not held_off and (not fence or stamp > fence + 0)
            and redis.call('SET', key, value(id, token), 'NX', 'PX', ttl) then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
        if reserved then
            redis.call('DEL', reserved_key)
        end
        -- It has waited. Should it die now, those behind it are not to wait for it.
        if string.find(place, ':', 1, true) then
            queue().leave(key, place)
        end
        return stamp
    end

    -- Why not? MGET, because it does not stumble over a key of another type.
    if ours(redis.call('MGET', key)[1], id) then
        return stamp
    end
    local left = holder(key) or held_off
    if left then
        local waits = place ~= '-' and place ~= ''
        local before = waits and queue().enter(key, whole(place, token), timely, now)
        return {0, stamp, left, now, before or -2}
    end
    if not timely then
        return {-2, stamp, 0, now}
    end
    return {-1, stamp, fence + 0, now}
end
--include vote_each.lua
