-- What the inbox of a room has and its log has not, for a coordinator that writes without a fence.
-- Drops the rest: what was sent again, by a member that did not know whether it had arrived.
--
-- KEYS[1]  the inbox, KEYS[2]  ids of messages in the log
-- ARGV[1]  how many to read at most
local new, seen = {}, {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])) do
    local said = entry[2]  -- id, its value, name, its value, text, its value
    if seen[said[2]] or redis.call('ZSCORE', KEYS[2], said[2]) then
        redis.call('XDEL', KEYS[1], entry[1])
    else
        seen[said[2]] = true
        table.insert(new, {entry[1], said[2], said[4], said[6]})
    end
end
return new
