-- snippet: fenced
-- Reads or writes a value that is fenced: after the first access with a token, reads included,
-- every lower token is refused.
--
-- KEYS[1]  a hash: the field "fence" is the highest token seen, the field "value" is the data
-- ARGV[1]  the token, in decimal
-- ARGV[2]  the new value; without it the value is read
--
-- Replies OK to a write, and to a read the value, or nil if there is none. Replies the error FENCED
-- with the highest token seen, if the token is lower, or empty, or no token at all.
--
-- Atomic: a server runs nothing else while it runs a script. So no access comes between the check
-- and the act. Token and data are one key: neither expires, is evicted or is deleted alone.
local token, value = ARGV[1], ARGV[2]
local highest = redis.call('HGET', KEYS[1], 'fence') or '0'

-- tonumber() would take "nan" too, which is not lower than anything. Below 2^53 numbers are exact.
local valid = string.find(token, '^[1-9]%d*$') and tonumber(token) < 9007199254740992
if not valid or tonumber(token) < tonumber(highest) then
    return redis.error_reply('FENCED ' .. highest)
end

if value then
    redis.call('HSET', KEYS[1], 'fence', token, 'value', value)
    return redis.status_reply('OK')
end
if token ~= highest then
    redis.call('HSET', KEYS[1], 'fence', token)
end
return redis.call('HGET', KEYS[1], 'value')
-- end snippet
