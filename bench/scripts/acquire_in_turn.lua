-- Sets the key of a lock if it is free and reserved for nobody else, or waits in its queue.
--
-- KEYS     the lock, its queue, its reservation, the missed reservations of each waiter
-- ARGV     the attempt id, the ttl in milliseconds, the waiter, its arrival stamp
-- returns  1 if the lock is ours now, 0 if we wait in the queue
local lock, queue, reservation, misses = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ttl, me, stamp = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local function wait()
    redis.call('ZADD', queue, 'NX', stamp, me)
    return 0
end

-- An older stamp overrides a younger reservation: the nodes may have reserved for different heads,
-- and then the oldest has to get a quorum.
local reserved = redis.call('GET', reservation)
if reserved then
    local head_stamp, head = string.match(reserved, '^(%d+) (.*)$')
    if head ~= me and tonumber(stamp) >= tonumber(head_stamp) then
        return wait()
    end
end
if not redis.call('SET', lock, id, 'NX', 'PX', ttl) then
    return wait()
end
if reserved then
    redis.call('DEL', reservation)
    redis.call('HDEL', misses, me)
end
return 1
