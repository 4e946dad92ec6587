-- Writes messages into the log of a room without asking who is its coordinator now. What was read
-- before may have been written by somebody else meanwhile: then it is there twice.
--
-- KEYS[1]  the room, KEYS[2]  its inbox, KEYS[3]  its log, KEYS[4]  ids of messages in the log
-- ARGV[1]  the token, ARGV[2]  its number, ARGV[3]  the server, ARGV[4]  how many the log keeps
-- ARGV[5]  and so on  entry in the inbox, id, name and text of each message
local last = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
for index = 5, #ARGV, 4 do
    local entry, id, name, text = unpack(ARGV, index, index + 3)
    last = last + 1
    redis.call('ZADD', KEYS[4], last, id)
    redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], string.format('%d-0', last),
        'id', id, 'name', name, 'text', text, 'at', string.match(entry, '^%d+'),
        'fence', ARGV[1], 'term', ARGV[2], 'server', ARGV[3], 'waited', 0)
    redis.call('XDEL', KEYS[2], entry)
end
redis.call('HSET', KEYS[1], 'seq', last)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', last - ARGV[4])
return redis.status_reply('OK')
