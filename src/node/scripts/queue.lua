-- The queue of a resource, and the reservation for its first. Not a script by itself.
--
-- A place is "client:arrival": a name in hexadecimal digits, and since when the acquisition waits,
-- in microseconds since the epoch. A third number is how long, in milliseconds, a client that is
-- far away needs a resource to be kept for it. A queue has clients in the order of arrival. A
-- reservation keeps a resource for a place for a moment. A flag says that somebody waits, so that a
-- release need not look into a queue that is not there. A client is woken by the channel of its
-- name.
--
-- None of them grants anything: they only delay. So whatever cannot be done here is left undone,
-- and who waits polls.
--
-- A script makes its functions anew whenever it is run. So these are made where they are called,
-- by `queue().enter(...)`: where nobody waits, they cost nothing.
local function queue()
    local function flag(key)
        redis.pcall('SET', waits_prefix .. key, '1', 'PX', queue_ttl)
    end

    -- The client, its arrival, and how long it is to be kept a resource, '' without a word about
    -- that.
    local function parts(place)
        return string.match(place, '^(%x+):(%d+):?(%d*)$')
    end

    -- What counts of an arrival: what the client says, if the token of its round was good. So it is
    -- the same on all nodes, whatever their clocks show, and in each round: queues of different
    -- orders wake different clients, and then a quorum wakes none. Without a `token` the client's
    -- clock may be off, which puts it before nobody who has waited longer.
    local function seen(arrival, token, now)
        local earliest = now - (token and longest_turn or window)
        return math.max(math.min(arrival + 0, token or now), earliest)
    end

    local function far_key(key, client)
        return far_prefix .. key .. ':' .. client
    end

    -- Enters a place, unless its client has one. Returns how many are before it, -1 if the queue is
    -- full, -2 if it cannot be used. `token` as in `seen`. In a full queue an earlier arrival takes
    -- the place of the last one.
    local function enter(key, place, token, now)
        local queue = queue_prefix .. key
        local client, arrival, keeps = parts(place)
        local score = string.format('%.0f', seen(arrival, token, now))
        local added = redis.pcall('ZADD', queue, 'NX', score, client)
        if added == 1 then
            local beyond = redis.pcall('ZRANGE', queue, queue_max, queue_max)[1]
            if beyond then
                redis.pcall('ZREM', queue, beyond)
            end
        end
        local before = redis.pcall('ZRANK', queue, client)
        if type(before) ~= 'number' then
            return added == 1 and before == false and -1 or -2
        end
        if before >= queue_max then
            redis.pcall('ZREM', queue, client)
            return -1
        end
        redis.pcall('PEXPIRE', queue, queue_ttl)
        if keeps ~= '' then
            redis.pcall('SET', far_key(key, client), keeps, 'PX', queue_ttl)
        end
        flag(key)
        return before
    end

    local function leave(key, place)
        redis.pcall('ZREM', queue_prefix .. key, (parts(place)))
    end

    -- How long to keep the resource for a client: as long as for everybody, or longer if it is far.
    -- Next time it may not be far, so its number serves once.
    local function reservation_for(key, client)
        local keeps = redis.pcall('GET', far_key(key, client))
        if type(keeps) ~= 'string' then
            return reservation
        end
        redis.pcall('DEL', far_key(key, client))
        return math.min(math.max(tonumber(keeps) or 0, reservation), longest_reservation)
    end

    -- Tells the one behind for how long the resource is kept for another. Should that be frozen, it
    -- asks then, and not when it polls.
    local function tell_next(key, lasts)
        local client = redis.pcall('ZRANGE', queue_prefix .. key, 0, 0)[1]
        if client then
            redis.pcall('PUBLISH', channel_prefix .. client .. next_suffix, lasts .. ' ' .. key)
        end
    end

    -- Wakes the first of the queue that is still there, and keeps the resource for it. It leaves
    -- the queue: if it is frozen, nobody waits for it twice.
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
                local lasts = reservation_for(key, first[1])
                redis.pcall('SET', reserved_prefix .. key, place, 'PX', lasts)
                flag(key)
                return tell_next(key, lasts)
            end
        end
    end

    return {parts = parts, seen = seen, enter = enter, leave = leave, wake_next = wake_next,
        tell_next = tell_next}
end
