-- Compare and delete: gives a resource back.
--
-- KEYS[1]  the lock key
-- ARGV[1]  the attempt id
-- returns  1 if the key was ours and is deleted, 0 if it was not there or not ours
--
-- A script, because nothing may set the key between the comparison and the deletion. An error
-- (the key has another type, no permission) comes from the first command, before anything changed.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
