-- Moves messages from the inbox of a room to its log, and gives them their sequence numbers.
--
-- KEYS[1]  the room, KEYS[2]  its inbox, KEYS[3]  its log, KEYS[4]  ids of messages in the log
-- KEYS[5]  its coordinators
-- ARGV[1]  the token, ARGV[2]  how many to move at most, ARGV[3]  how many the log keeps
-- ARGV[4]  the server, ARGV[5]  its number as a coordinator, ARGV[6]  ms since its last access
--
-- Replies how many were appended, how many were there already, and how many were taken. Replies the
-- error FENCED, counts it and notes it, if the coordinator is no longer in charge.
--
-- Atomic: a coordinator that dies has moved a message or has not, and a message is never in the log
-- twice. Its sequence number is its id in the stream, which would refuse one that is not new.
local room, inbox, log, ids = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, kept = ARGV[1], tonumber(ARGV[3])

local refusal = fenced(room, token)
if refusal then
    redis.call('HINCRBY', room, 'refused', 1)
    note(room, KEYS[5], 'refused', token, 'server', ARGV[4], 'number', ARGV[5], 'slept', ARGV[6],
        'at', now, 'seen', redis.call('HGET', room, 'terms') or '0')
    return refusal
end

local server, number = unpack(redis.call('HMGET', room, 'server', 'terms'))
local last = tonumber(redis.call('HGET', room, 'seq') or '0')
local taken, appended = {}, 0
for index, entry in ipairs(redis.call('XRANGE', inbox, '-', '+', 'COUNT', ARGV[2])) do
    local said = entry[2]  -- id, its value, name, its value, text, its value
    taken[index] = entry[1]
    if redis.call('ZADD', ids, 'NX', last + 1, said[2]) == 1 then
        last = last + 1
        appended = appended + 1
        local at = string.match(entry[1], '^%d+')  -- When the inbox got it.
        redis.call('XADD', log, 'MAXLEN', '~', kept, string.format('%d-0', last),
            'id', said[2], 'name', said[4], 'text', said[6], 'at', at, 'fence', token,
            'term', number, 'server', server, 'waited', math.max(0, now - at))
    end
end
if #taken > 0 then
    redis.call('XDEL', inbox, unpack(taken))
end
if appended > 0 then
    redis.call('HSET', room, 'seq', last)
    redis.call('ZREMRANGEBYSCORE', ids, '-inf', last - kept)
end
return {appended, #taken - appended, #taken}
