-- Put before the scripts of a coordinator, which begin with `fenced`.

-- Milliseconds since 1970. All times in a room are on the clock of the store. An access has one
-- time: a coordinator that leaves was heard when it ended, not a moment before.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Compares the token of a coordinator with the highest that the room has seen, and records it with
-- the time: each access is a sign of life. Returns nothing if the coordinator may go on, and
-- otherwise the error to reply with. The fence is a field of the room's hash, next to the last
-- sequence number: they are kept or lost together.
local function fenced(room, token)
    local highest = redis.call('HGET', room, 'fence') or '0'
    local valid = string.find(token, '^[1-9]%d*$') and tonumber(token) < 9007199254740992
    if not valid or tonumber(token) < tonumber(highest) then
        return redis.error_reply('FENCED ' .. highest)
    end
    redis.call('HSET', room, 'fence', token, 'heard', now)
end

-- Adds an entry to the list of coordinators that is not the beginning of one. Its id is behind that
-- of the present one, and before that of the next one.
local function note(room, coordinators, ...)
    local id = redis.call('HGET', room, 'fence') .. '-' .. redis.call('HINCRBY', room, 'notes', 1)
    redis.call('XADD', coordinators, 'MAXLEN', 64, id, ...)
end

