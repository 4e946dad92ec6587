-- The last access of a coordinator that hands over by itself.
--
-- KEYS[1]  the room, KEYS[2]  its coordinators
-- ARGV[1]  the token
local refusal = fenced(KEYS[1], ARGV[1])
if refusal then
    return refusal
end
redis.call('HSET', KEYS[1], 'until', now)
note(KEYS[1], KEYS[2], 'left', ARGV[1], 'ended', now)
return redis.status_reply('OK')
