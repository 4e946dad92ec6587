-- Compare and delete; then reserves the lock for the head of its queue and wakes it.
--
-- KEYS     the lock, its queue, its reservation, the missed reservations of each waiter
-- ARGV     the attempt id, the life of a reservation in milliseconds, the waiter, its arrival
--          stamp, `leave` or `stay`: a round that failed keeps its place in the queue
-- returns  0 if the lock was not ours, 1 if it is deleted, 2 if it is reserved for ourselves
local lock, queue, reservation, misses = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, life, me, stamp, intent = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local most_misses = 2

if intent == 'leave' then
    redis.call('ZREM', queue, me)
else
    redis.call('ZADD', queue, 'NX', stamp, me)
end
if redis.call('GET', lock) ~= id then
    return 0
end
redis.call('DEL', lock)

local function reserve(head, head_stamp)
    local value = string.format('%.0f %s', head_stamp, head)
    redis.call('SET', reservation, value, 'PX', life)
end

-- A head that nobody hears, or that missed its reservations, is dropped.
while true do
    local found = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    local head, head_stamp = found[1], found[2]
    if not head then
        return 1
    end
    if head == me then
        reserve(head, head_stamp)
        return 2
    end
    local reservations = redis.call('HINCRBY', misses, head, 1)
    if reservations <= most_misses and redis.call('PUBLISH', head, '') > 0 then
        reserve(head, head_stamp)
        return 1
    end
    redis.call('HDEL', misses, head)
    redis.call('ZREM', queue, head)
end
