-- Compare and prolong: sets the ttl of a key that is ours, unless it has longer to live.
--
-- KEYS[1]  the lock key
-- ARGV[1]  the attempt id
-- ARGV[2]  the ttl in milliseconds
-- returns  1 if the key is ours and lives at least the ttl, 0 if it is not there or not ours
--
-- Never creates the key: it may have expired, and another client may have held the resource since.
-- Never shortens the ttl: an older extension may arrive late, and a shorter one that reaches only
-- some nodes would take from a deadline that was promised. A key without a ttl (-1) gets one.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
