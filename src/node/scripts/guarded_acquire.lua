-- Sets the lock key to an attempt id, if the node may vote, the resource is free and the token new.
--
-- KEYS[1]  the lock key
-- KEYS[2]  the fence key: the highest token that was accepted for this resource
-- KEYS[3]  the marker: the fingerprint and the run id with which the node was admitted
-- KEYS[4]  the quarantine: exists while the node must not vote
-- ARGV[1]  the attempt id
-- ARGV[2]  the token
-- ARGV[3]  the ttl in milliseconds
-- ARGV[4]  how long the fence key lives, in milliseconds
-- ARGV[5]  the clock window in microseconds
-- ARGV[6]  the fingerprint
-- returns  the token, if the key is ours now, or was already, because a command arrived twice.
--          Otherwise {code, the token, a number, the node's time in microseconds}:
--           0  held          the number: pttl of the holder, -1 without a ttl
--          -1  fence         the number: the recorded token, which is not lower
--          -2  clock         the token is out of the window
--          -3  unmarked      the node lost its data, or is marked for other settings
--          -4  quarantined   the number: how much longer, in milliseconds
--
-- A script, because nothing may happen between looking and setting. Whatever can fail does so
-- before the first write: an error reply says that nothing was written.
local holder, fence, marker, quarantine =
    unpack(redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4]))
local token = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

if not marker or string.sub(marker, 1, #ARGV[6]) ~= ARGV[6] then
    return {-3, token, 0, now}
end
if quarantine then
    return {-4, token, redis.call('PTTL', KEYS[4]), now}
end
if holder == ARGV[1] then
    return token
end
if holder then
    return {0, token, redis.call('PTTL', KEYS[1]), now}
end
-- On both sides: a token from the future would make everybody else pay for ever, and one from the
-- past may be older than what this node has forgotten.
if math.abs(token - now) > tonumber(ARGV[5]) then
    return {-2, token, 0, now}
end
if fence and token <= tonumber(fence) then
    return {-1, token, tonumber(fence), now}
end
-- The fence first: if memory is short, this write fails and not the second. A fence without a lock
-- does no harm. NX, because MGET does not see a key of another type.
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[4])
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then
    return token
end
return {0, token, redis.call('PTTL', KEYS[1]), now}
