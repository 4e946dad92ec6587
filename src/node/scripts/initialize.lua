-- Marks a fresh node, so that it may vote without a quarantine. See async_initialize_nodes.
--
-- KEYS[1]  the marker
-- KEYS[2]  the note of who looked last
-- ARGV[1]  the fingerprint of the clients' settings
-- ARGV[2]  the server's incarnation
-- ARGV[3]  'look' to leave a note, 'mark' to mark a node that still has it
-- ARGV[4]  the text of the note, which nobody else has
-- ARGV[5]  how long the note lives, in milliseconds
-- returns  nil if the node carried no marker, else "marked '", the marker and "'": it may be empty;
--          an error if the note is gone
--
-- A script, because a client may admit the node between looking and marking. The note, because the
-- node may have been used and emptied between the two: it has forgotten the note with the rest.
local marker = redis.call('GET', KEYS[1])
if marker then
    return "marked '" .. marker .. "'"
end
if ARGV[3] == 'look' then
    redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
    return nil
end
if redis.call('GET', KEYS[2]) ~= ARGV[4] then
    return redis.error_reply('CHANGED the node was emptied, or somebody else looked at it, or ' ..
        ARGV[5] .. ' ms have passed, since it was looked at')
end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2])
redis.call('DEL', KEYS[2])
return nil
