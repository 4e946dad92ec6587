-- Sets lock keys to values with attempt ids, if the node may vote, the resource is free and the
-- token new.
--
-- One question or several, as in release.lua. Constants of the client are in front, made by
-- src/node/guard.cpp: marker_key, quarantine_key, longest_quarantine, marker_begin, window,
-- fence_prefix, fence_ttl, and those of queue.lua. Arguments cost time, constants do not.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     how the marker ends, see guarded_head.lua; for each key: the value to set, which begins
--          with the attempt id and the token, see ours.lua; shared: the ttl in milliseconds, the
--          place. See vote_each.lua
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
--
-- The usual cases come first, at the top level: a script makes its functions anew whenever it is
-- run. What they leave is answered by `vote`, which knows what has been read. To read in one
-- command is cheaper than to read less in several.
local count, client, replies, answered = #KEYS, string.match(ARGV[3], '^%x*'), {}, 0
local names = {marker_key, quarantine_key}
for i = 1, count do
    local key = KEYS[i]
    names[3 * i], names[3 * i + 1], names[3 * i + 2] =
        key, fence_prefix .. key, reserved_prefix .. key
end
local known = redis.pcall('MGET', unpack(names))
local knows_all = not known.err
if not knows_all then
    -- A key that the user may not touch is no reason to refuse the others.
    known = redis.call('MGET', marker_key, quarantine_key)
end
--include guarded_head.lua

if knows_all and not refusal and #ARGV == 3 + count then
    local ttl, place = ARGV[2], ARGV[3]
    local polls, has_waited = place == '-', string.find(place, ':', 1, true)
    for i = 1, count do
        local value, fence = ARGV[3 + i], known[3 * i + 1]
        local reserved = not polls and known[3 * i + 2]
        local is_ours = reserved and string.match(reserved, '^(%x+):%d+$') == client
        -- An id has 40 digits, and a token of this century 16.
        local token = string.sub(value, 42, 57)
        local stamp, set = tonumber(token), nil
        if stamp and stamp >= first and stamp <= last and not known[3 * i]
                and (is_ours or not reserved) then
            -- MGET does not see a key of another type. That has to be an error, and not a missing
            -- fence.
            local newer
            if fence then
                newer = stamp > (tonumber(fence) or stamp)
            else
                newer = not redis.pcall('GET', names[3 * i + 1])
            end
            -- NX, should the key have another type.
            set = newer and redis.pcall('SET', KEYS[i], value, 'NX', 'PX', ttl)
        end
        if set then
            answered = answered + 1
            replies[i] = set
        end
        if set and set.ok then
            local fenced = redis.pcall('SET', names[3 * i + 1], token, 'PX', fence_ttl)
            if is_ours then
                redis.pcall('DEL', names[3 * i + 2])
            end
            if has_waited then
                -- Should it die now, those behind it are not to wait for it.
                redis.pcall('ZREM', queue_prefix .. KEYS[i], client)
            end
            replies[i] = fenced.err and fenced or stamp
        end
    end
    if answered == count then
        return count == 1 and replies[1] or replies
    end
end

--include queue.lua
--include free.lua
--include ours.lua
local common, own, more, shared = 1, 1, 2, {}

-- A place with its arrival.
local function whole(place, token)
    return string.find(place, ':', 1, true) and place or place .. ':' .. token
end

-- Nothing has been written to the key since it was read, unless another question of this command
-- set it. Then it is not free.
local function read(key)
    if knows_all then
        return unpack(known, 3 * shared[0], 3 * shared[0] + 2)
    end
    return unpack(redis.call('MGET', key, fence_prefix .. key, reserved_prefix .. key))
end

local function vote(key, value)
    local id, token = string.match(value, '^(%S+) (%d+) ')
    local stamp = token + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local ttl, place = shared[1], shared[2]
    local timely = stamp >= first and stamp <= last and stamp
    local fence_key = fence_prefix .. key
    local reserved_key = reserved_prefix .. key
    local held, fence, reserved = read(key)
    fence = fence or redis.call('GET', fence_key)
    reserved = place ~= '-' and reserved
    local held_off = reserved and holds_off(reserved, key, whole(place, token), timely, now)

    if timely and not held and not held_off and (not fence or stamp > fence + 0)
            and redis.call('SET', key, value, 'NX', 'PX', ttl) then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
        if reserved then
            redis.call('DEL', reserved_key)
        end
        if string.find(place, ':', 1, true) then
            redis.pcall('ZREM', queue_prefix .. key, (parts(place)))
        end
        return stamp
    end

    -- Why not?
    if ours(held, id) then
        return stamp
    end
    local left = holder(key) or held_off
    if left then
        local waits = place ~= '-' and place ~= ''
        local before = waits and enter(key, whole(place, token), timely, now)
        return {0, stamp, left, now, before or -2}
    end
    if not timely then
        return {-2, stamp, 0, now}
    end
    return {-1, stamp, fence + 0, now}
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
