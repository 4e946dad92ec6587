-- Tells how many members of a room a server has, and replies how the room is.
--
-- The first to ask notes the time, from which the room is known to have begun anew if the store
-- has lost it meanwhile: its numbers alone may have caught up with the old ones.
--
-- KEYS[1]  the room, KEYS[2]  its members on each server, KEYS[3]  its log, KEYS[4]  its inbox
-- ARGV[1]  the server, ARGV[2]  its members, ARGV[3]  ms after which a server does not count
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. now)

local members = 0
local counts = redis.call('HGETALL', KEYS[2])
for index = 1, #counts, 2 do
    local count, at = string.match(counts[index + 1], '(%d+) (%d+)')
    if now - at > tonumber(ARGV[3]) then
        redis.call('HDEL', KEYS[2], counts[index])
    else
        members = members + count
    end
end

-- A room that says it is empty is. One that says nothing may have lost its servers.
if members == 0 then
    redis.call('HSETNX', KEYS[1], 'emptied', now)
else
    local emptied = redis.call('HGET', KEYS[1], 'emptied')
    if emptied then
        redis.call('HDEL', KEYS[1], 'emptied')
        redis.call('HSET', KEYS[1], 'empty_from', emptied, 'empty_to', now)
    end
end

-- The number or the time in the id of the first entry of a stream.
local function first_of(stream)
    local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)
    return oldest[1] and string.match(oldest[1][1], '^%d+')
end

local waiting = redis.call('XLEN', KEYS[4])
local waits = now - tonumber(first_of(KEYS[4]) or now)
redis.call('HSETNX', KEYS[1], 'began', now)
local room = redis.call('HMGET', KEYS[1], 'seq', 'refused', 'server', 'fence', 'since', 'until',
    'ttl', 'extensions', 'began', 'heard', 'terms')
for index = 1, 11 do
    room[index] = room[index] or ''
end
return {tostring(now), tostring(members), first_of(KEYS[3]) or '1', tostring(waiting),
    tostring(waits), unpack(room)}
