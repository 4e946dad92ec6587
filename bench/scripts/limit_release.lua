-- Compare and delete. Frozen, see limit_acquire.lua.
--
-- KEYS     the lock keys
-- ARGV     for each key: the value
-- returns  for each key: 1 if it was ours and is deleted, else 0; one alone is in no list
local answers = {}
for at, key in ipairs(KEYS) do
    answers[at] = redis.call('GET', key) == ARGV[at] and redis.call('DEL', key) or 0
end
return #KEYS == 1 and answers[1] or answers
