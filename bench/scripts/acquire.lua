-- Sets the key of a lock if it is free, for the contenders that poll or are woken by tracking.
--
-- KEYS     the lock
-- ARGV     the attempt id, the ttl in milliseconds
-- returns  1 if the lock is ours now, 0 if another one holds it
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return 1
end
redis.call('GET', KEYS[1])  -- What a script reads is what the server tracks.
return 0
