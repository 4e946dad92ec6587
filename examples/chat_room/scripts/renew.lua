-- Tells the room how long the lease of its coordinator lives.
--
-- KEYS[1]  the room
-- ARGV[1]  the token, ARGV[2]  what is left of the lease, in ms, ARGV[3]  how often it was extended
local refusal = fenced(KEYS[1], ARGV[1])
if refusal then
    return refusal
end
redis.call('HSET', KEYS[1], 'until', now + ARGV[2], 'extensions', ARGV[3])
return redis.status_reply('OK')
