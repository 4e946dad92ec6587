-- The least that a guarded acquisition needs to be safe. Frozen: it does not change with the
-- library, whose speed is told as a share of what a client with this script does.
--
-- KEYS     the lock keys
-- ARGV     the marker, the ttl in milliseconds; for each key: the value, its token
-- returns  for each key: the token if the key is set now, else 0; one alone is in no list
local clock, answers = redis.call('TIME'), {}
local now = clock[1] * 1000000 + clock[2]
if redis.call('GET', 'redlock:marker') ~= ARGV[1]
        or redis.call('EXISTS', 'redlock:quarantine') == 1 then
    return redis.error_reply('UNMARKED')
end
for at, key in ipairs(KEYS) do
    local token = ARGV[2 + 2 * at]
    local fence_key, stamp = 'redlock:fence:' .. key, token + 0
    local fence = redis.call('GET', fence_key)
    answers[at] = 0
    if math.abs(now - stamp) <= 500000 and (not fence or fence + 0 < stamp)
            and redis.call('SET', key, ARGV[1 + 2 * at], 'NX', 'PX', ARGV[2]) then
        redis.call('SET', fence_key, token, 'PX', 86400000)
        answers[at] = stamp
    end
end
return #KEYS == 1 and answers[1] or answers
