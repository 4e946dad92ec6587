-- Sets lock keys to attempt ids, if the node may vote, the resource is free and the token new.
--
-- One question or several, as in release.lua. Constants of the client are in front, made by
-- src/node/guard.cpp: marker_key, quarantine_key, quarantine_length, fingerprint, window,
-- fence_prefix, fence_ttl, and those of queue.lua. Arguments cost time, constants do not.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     the run id, see guarded_head.lua; then for each key: the attempt id, the token, the ttl
--          in milliseconds; from clients that queue also the place of the acquisition, see
--          queue.lua, '' if it does not wait; without an arrival it has arrived just now, as the
--          token says
-- returns  for each key: the token, if the key is ours now, or was already, because a command
--          arrived twice. Otherwise {code, the token, a number, the node's time in microseconds},
--          or an error:
--           0  held          the number: pttl of the holder, or of the reservation for another
--                            client; -1 without a ttl. A fifth one: how many are before us in
--                            the queue, -1 if we are not in it
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

-- A place with its arrival.
local function whole(place, token)
    return string.find(place, ':', 1, true) and place or place .. ':' .. token
end

-- Whether a reservation is for somebody who goes before us. One of another form says nothing, and
-- so does one that lives for longer than any client makes them.
local function goes_first(reserved, place, left)
    local whom, since = string.match(reserved, '^(%x+):(%d+)$')
    local client, arrival = parts(place)
    return whom and left >= 0 and left <= longest_reservation and whom ~= client
        and (not client or since + 0 <= seen(arrival, now))
end

local function vote(key, id, token, ttl, place)
    local stamp = token + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local timely = in_window(stamp)
    local fence_key = fence_prefix .. key
    local reserved_key = reserved_prefix .. key
    local fence, reserved
    if place then
        fence, reserved = unpack(redis.call('MGET', fence_key, reserved_key))
    end
    -- For MGET a fence of another type is none.
    fence = fence or redis.call('GET', fence_key)
    local left = reserved and redis.call('PTTL', reserved_key)
    local yields = reserved and goes_first(reserved, whole(place, token), left)

    -- The usual case. NX is what looks for a holder, of whatever type its key is.
    if timely and not yields and (not fence or stamp > fence + 0)
            and redis.call('SET', key, id, 'NX', 'PX', ttl) then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
        if reserved then
            redis.call('DEL', reserved_key)
        end
        return stamp
    end

    -- Why not? MGET, because it does not stumble over a key of another type.
    if redis.call('MGET', key)[1] == id then
        return stamp
    end
    local holder = redis.call('PTTL', key)
    if holder == -2 and yields then
        holder = left
    end
    if holder ~= -2 then
        local waits = place and place ~= ''
        return {0, stamp, holder, now, waits and enter(key, whole(place, token), now) or -1}
    end
    if not timely then
        return {-2, stamp, 0, now}
    end
    return {-1, stamp, fence + 0, now}
end
--include vote_each.lua
