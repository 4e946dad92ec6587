-- Wakes the first of each queue that is still there, and keeps the resource for it. Not a script by
-- itself. See queue.lua.
--
-- to_wake  the lock keys that are free now
--
-- A client that is woken leaves the queue: should it be frozen, nobody waits for it twice. The one
-- behind it is told for how long the resource is kept, and asks then, without a poll.
--
-- It looks at no more clients than a full queue has, or dead clients of many resources would keep
-- the node busy. Those behind poll.
--
-- Without a function: a script makes its functions anew whenever it is run, and where anybody
-- waits, this is what each release does.
local looks = 0
for _, key in ipairs(to_wake) do
    local queue, client, arrival, heard = queue_prefix .. key, nil, nil, 0
    while heard == 0 and looks < queue_max do
        looks = looks + 1
        local popped = redis.pcall('ZPOPMIN', queue)
        if popped.err then
            break
        end
        client, arrival = popped[1], popped[2]
        if not client then
            redis.pcall('DEL', waits_prefix .. key)
            break
        end
        heard = redis.pcall('PUBLISH', channel_prefix .. client, key)
    end
    if heard ~= 0 and type(heard) == 'number' then
        local lasts = reservation
        -- Longer for one that is far. Next time it may not be far, so its number serves once.
        local far = redis.pcall('GET', far_prefix .. key .. ':' .. client)
        if type(far) == 'string' then
            redis.pcall('DEL', far_prefix .. key .. ':' .. client)
            lasts = math.min(math.max(tonumber(far) or 0, reservation), longest_reservation)
        end
        redis.pcall('SET', reserved_prefix .. key, client .. ':' .. arrival, 'PX', lasts)
        local behind = redis.pcall('ZRANGE', queue, 0, 0)[1]
        if behind then
            redis.pcall('PUBLISH', channel_prefix .. behind .. next_suffix, lasts .. ' ' .. key)
        end
    end
end
