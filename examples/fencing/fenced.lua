-- snippet: fenced
-- Reads or writes a fenced value.
--
-- KEYS[1]  a hash: "fence" is the highest token seen, "value" is the data
-- ARGV[1]  the token, in decimal
-- ARGV[2]  the new value; without it the script reads
--
-- Replies OK to a write, the value or nil to a read, FENCED with the highest token to a token that
-- is lower, empty or malformed.
--
-- Token and data are one key, so they can't expire or be evicted separately.
local token, value = ARGV[1], ARGV[2]
local highest = redis.call('HGET', KEYS[1], 'fence') or '0'

-- tonumber() also takes "nan", which isn't lower than anything. Below 2^53 numbers are exact.
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
