-- The queue of a resource, and the reservation for its first. Not a script by itself.
--
-- A place is "client:arrival": a name in hexadecimal digits, and since when the acquisition waits,
-- in microseconds since the epoch. A third number is how long, in milliseconds, a client that is
-- far away needs a resource to be kept for it. A queue has clients in the order of arrival. A
-- reservation keeps a resource for a place for a moment. A flag says that somebody waits, so that a
-- release need not look into a queue that is not there. A client is woken by the channel of its
-- name: see wake.lua.
--
-- None of them grants anything: they only delay. So whatever cannot be done here is left undone,
-- and who waits polls.

-- The client, its arrival, and how long it is to be kept a resource, '' without a word about that.
local function parts(place)
    return string.match(place, '^(%x+):(%d+):?(%d*)$')
end

-- What counts of an arrival: what the client says, if the token of its round was good. So it is the
-- same on all nodes, whatever their clocks show, and in each round: queues of different orders wake
-- different clients, and then a quorum wakes none. Without a `token` the client's clock may be off,
-- which puts it before nobody who has waited longer.
local function seen(arrival, token, now)
    local earliest = now - (token and longest_turn or window)
    return math.max(math.min(arrival + 0, token or now), earliest)
end

-- Enters a place. If its client has one already, the earlier arrival counts. Returns how many are
-- before it, -1 if the queue is full, -2 if it cannot be used. `token` as in `seen`. In a full
-- queue an earlier arrival takes the place of the last one.
local function enter(key, place, token, now)
    local queue = queue_prefix .. key
    local client, arrival, keeps = parts(place)
    local score = string.format('%.0f', seen(arrival, token, now))
    -- LT: a place moves only to an earlier arrival. So it does not move back with each poll, and a
    -- good token corrects the place that a late one was given.
    local added = redis.pcall('ZADD', queue, 'LT', score, client)
    local before = redis.pcall('ZRANK', queue, client)
    if type(before) ~= 'number' then
        return -2
    end
    if added == 1 then
        local beyond = redis.pcall('ZRANGE', queue, queue_max, queue_max)[1]
        if beyond then
            redis.pcall('ZREM', queue, beyond)
        end
    end
    if before >= queue_max then
        redis.pcall('ZREM', queue, client)
        return -1
    end
    redis.pcall('PEXPIRE', queue, queue_ttl)
    if keeps ~= '' then
        redis.pcall('SET', far_prefix .. key .. ':' .. client, keeps, 'PX', queue_ttl)
    end
    redis.pcall('SET', waits_prefix .. key, '1', 'PX', queue_ttl)
    return before
end
