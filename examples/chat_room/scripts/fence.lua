-- Put before the scripts of a coordinator, which begin with `fenced`.

-- Compares the token of a coordinator with the highest that the room has seen, and records it.
-- Returns nothing if the coordinator may go on, and otherwise the error to reply with. The fence is
-- a field of the room's hash, next to the last sequence number: they are kept or lost together.
local function fenced(room, token)
    local highest = redis.call('HGET', room, 'fence') or '0'
    local valid = string.find(token, '^[1-9]%d*$') and tonumber(token) < 9007199254740992
    if not valid or tonumber(token) < tonumber(highest) then
        return redis.error_reply('FENCED ' .. highest)
    end
    if token ~= highest then
        redis.call('HSET', room, 'fence', token)
    end
end

-- Milliseconds since 1970. All times in a room are on the clock of the store.
local function now()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

