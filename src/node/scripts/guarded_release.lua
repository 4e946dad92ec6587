-- Deletes a key that is ours, and makes sure that its attempt cannot set it any more.
--
-- KEYS[1]  the lock key
-- KEYS[2]  the fence key
-- ARGV[1]  the attempt id
-- ARGV[2]  the token of the attempt
-- ARGV[3]  how long the fence key lives, in milliseconds
-- ARGV[4]  the clock window in microseconds
-- returns  1 if the key was ours and is deleted, 0 if it was not there or not ours
--
-- The acquisition may arrive after its release, for two connections are not ordered. The raised
-- fence refuses it then. A token from the future is left alone: the window refuses its acquisition,
-- and as a fence it would stop everybody else.
--
-- A script, because nothing may set the key between the comparison and the deletion. Everything is
-- read before the first write. The deletion comes first, because it needs no memory.
local holder, fence = unpack(redis.call('MGET', KEYS[1], KEYS[2]))

-- The usual case: the fence is the token of the attempt, so the node has taken it for timely.
if holder == ARGV[1] and fence == ARGV[2] then
    redis.call('DEL', KEYS[1])
    redis.call('INCR', KEYS[2])
    return 1
end

local tombstone = tonumber(ARGV[2]) + 1
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local raise = tombstone - now <= tonumber(ARGV[4]) and not (fence and tonumber(fence) >= tombstone)

local deleted = 0
if holder == ARGV[1] then
    deleted = redis.call('DEL', KEYS[1])
end
if raise then
    redis.call('SET', KEYS[2], string.format('%.0f', tombstone), 'PX', ARGV[3])
end
return deleted
