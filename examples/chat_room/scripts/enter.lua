-- The first access of a new coordinator: from now on the room refuses its predecessors.
--
-- Replies the number of the coordinator in the room, from 1. People tell 7 from 6 more easily than
-- one token from another.
--
-- KEYS[1]  the room, KEYS[2]  its coordinators
-- ARGV[1]  the token, ARGV[2]  the server, ARGV[3]  ttl, ARGV[4]  what is left of the lease, in ms
local room, coordinators = KEYS[1], KEYS[2]
local token, server = ARGV[1], ARGV[2]

local before = redis.call('HMGET', room, 'fence', 'until', 'heard', 'empty_from', 'empty_to')
local refusal = fenced(room, token)
if refusal then
    return refusal
end
if before[1] == token then  -- The answer to the first call was lost.
    return redis.call('HGET', room, 'terms')
end

local number = redis.call('HINCRBY', room, 'terms', 1)
local entry = {'server', server, 'since', now, 'number', number}
if before[1] then
    -- It may have been extended after its last notice, but not beyond this moment.
    local ended = math.min(tonumber(before[2] or now), now)
    local heard = math.min(tonumber(before[3] or ended), ended)
    for _, word in ipairs({'before', before[1], 'ended', ended, 'heard', heard}) do
        table.insert(entry, word)
    end
    -- A coordinator was not missed while nobody was there.
    local filled = math.min(tonumber(before[5] or 0), now)
    if filled > heard then
        local emptied = math.max(tonumber(before[4]), heard)
        for _, word in ipairs({'emptied', emptied, 'filled', filled}) do
            table.insert(entry, word)
        end
    end
end
-- The token is the entry's id, for both only grow.
redis.call('XADD', coordinators, 'MAXLEN', 64, token .. '-0', unpack(entry))
redis.call('HSET', room, 'server', server, 'since', now, 'until', now + ARGV[4],
    'ttl', ARGV[3], 'extensions', 0)
return tostring(number)
