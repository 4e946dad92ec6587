-- Who waits for a resource, and who is to go first. Not a script by itself.
--
-- A place is "client:arrival": a name in hexadecimal digits, and since when the acquisition waits,
-- in microseconds since the epoch. A queue has clients in the order of arrival. A reservation keeps
-- a resource for a place for a moment. A flag says that somebody waits, so that a release need not
-- look into a queue that is not there. A client is woken by the channel of its name.
--
-- None of them grants anything: they only delay. So whatever cannot be done here is left undone,
-- and who waits polls.

local function flag(key)
    redis.pcall('SET', waits_prefix .. key, '1', 'PX', queue_ttl)
end

-- Enters a place, unless its client has one. Returns how many are before it, -1 if it has none.
local function enter(key, place, now)
    local queue = queue_prefix .. key
    local client, arrival = string.match(place, '^(%x+):(%d+)$')
    -- A clock that is off puts nobody before those who have waited for longer.
    local seen = math.max(math.min(arrival + 0, now), now - window)
    redis.pcall('ZADD', queue, 'NX', string.format('%.0f', seen), client)
    local before = redis.pcall('ZRANK', queue, client)
    if type(before) ~= 'number' then
        return -1
    end
    if before >= queue_max then
        redis.pcall('ZREM', queue, client)
        return -1
    end
    redis.pcall('PEXPIRE', queue, queue_ttl)
    flag(key)
    return before
end

-- Wakes the first of the queue that is still there, and keeps the resource for it. It leaves the
-- queue: if it is frozen, nobody waits for it twice.
local function wake_next(key)
    while true do
        local first = redis.pcall('ZPOPMIN', queue_prefix .. key)
        if not first[1] then
            return
        end
        local woken = redis.pcall('PUBLISH', channel_prefix .. first[1], key)
        if type(woken) ~= 'number' then
            return
        end
        if woken > 0 then
            local place = first[1] .. ':' .. first[2]
            redis.pcall('SET', reserved_prefix .. key, place, 'PX', reservation)
            return flag(key)
        end
    end
end
