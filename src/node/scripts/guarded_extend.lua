-- Sets the ttl of a key that is ours, unless it has longer to live, if the node may vote.
--
-- KEYS[1]  the lock key
-- KEYS[2]  the fence key
-- KEYS[3]  the marker
-- KEYS[4]  the quarantine
-- ARGV[1]  the attempt id
-- ARGV[2]  the stamp: the time at which the extension was asked for, in microseconds
-- ARGV[3]  the ttl in milliseconds
-- ARGV[4]  how long the fence key lives, in milliseconds
-- ARGV[5]  the clock window in microseconds
-- ARGV[6]  the fingerprint
-- ARGV[7]  the token of the acquisition
-- returns  the stamp, if the key is ours and lives at least the ttl.
--          Otherwise {code, the stamp, a number, the node's time in microseconds}:
--           0  gone          the key is not there or not ours
--          -2, -3, -4        as in guarded_acquire.lua
--
-- Never creates the key: it may have expired, and another client may have held the resource since.
-- Never shortens the ttl: an older extension may arrive late.
local holder, fence, marker, quarantine =
    unpack(redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4]))
local stamp = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

if not marker or string.sub(marker, 1, #ARGV[6]) ~= ARGV[6] then
    return {-3, stamp, 0, now}
end
if quarantine then
    return {-4, stamp, redis.call('PTTL', KEYS[4]), now}
end
if holder ~= ARGV[1] then
    return {0, stamp, 0, now}
end
if math.abs(stamp - now) > tonumber(ARGV[5]) then
    return {-2, stamp, 0, now}
end
-- The fence has to outlive the lock, however long that is held.
if fence then
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
else
    redis.call('SET', KEYS[2], ARGV[7], 'PX', ARGV[4])
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return stamp
