-- Compare and delete.
--
-- KEYS     the lock
-- ARGV     the attempt id
-- returns  1 if the lock was ours and is deleted, 0 otherwise
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
