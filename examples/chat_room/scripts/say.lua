-- Puts a message into the inbox of a room. Replies the error FULL if nobody has emptied it for
-- long.
--
-- KEYS[1]  the inbox
-- ARGV[1]  id, ARGV[2]  name, ARGV[3]  text, ARGV[4]  how many messages the inbox may hold
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[4]) then
    return redis.error_reply('FULL ' .. ARGV[4])
end
return redis.call('XADD', KEYS[1], '*', 'id', ARGV[1], 'name', ARGV[2], 'text', ARGV[3])
