-- Who waits for a resource, and who is to go first. Not a script by itself.
--
-- A queue has the channels of clients, in the order in which their acquisitions arrived. A
-- reservation, "arrival:channel", keeps a resource for one of them for a moment. Neither grants
-- anything: they only delay. So whatever cannot be done here is left undone, and who waits polls.

-- A clock that is off must not put anybody before those who have waited for longer than the window.
local function arrival_seen(arrival, now)
    return string.format('%.0f', math.max(math.min(arrival + 0, now), now - window))
end

-- Enters a client that has no place yet. Returns how many are before it, -1 without a place.
local function enter(key, arrival, channel, now)
    local queue = queue_prefix .. key
    local place = redis.pcall('ZRANK', queue, channel)
    if not place then
        local size = redis.pcall('ZCARD', queue)
        if type(size) == 'number' and size < queue_max then
            redis.pcall('ZADD', queue, arrival_seen(arrival, now), channel)
            place = redis.pcall('ZRANK', queue, channel)
        end
    end
    if type(place) ~= 'number' then
        return -1
    end
    redis.pcall('PEXPIRE', queue, queue_ttl)
    return place
end

-- Wakes the first of the queue that is still there, and keeps the resource for it. It leaves the
-- queue: if it is frozen, nobody waits for it twice.
local function wake_next(key)
    local queue = queue_prefix .. key
    while true do
        local first = redis.pcall('ZPOPMIN', queue)
        if not first[1] then
            return
        end
        local woken = redis.pcall('PUBLISH', first[1], key)
        if type(woken) ~= 'number' then
            return
        end
        if woken > 0 then
            redis.pcall('SET', reserved_prefix .. key, first[2] .. ':' .. first[1],
                'PX', reservation)
            return
        end
    end
end
