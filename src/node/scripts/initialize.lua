-- Marks a fresh node, so that it may vote without a quarantine. See async_initialize_nodes.
--
-- KEYS[1]  the marker
-- ARGV[1]  the fingerprint of the clients' settings
-- ARGV[2]  the server's run id
-- ARGV[3]  'mark', or 'look' to change nothing
-- returns  nil if the node carried no marker, else "marked '", the marker and "'": it may be empty
--
-- A script, because a client may admit the node between looking and marking.
local marker = redis.call('GET', KEYS[1])
if not marker and ARGV[3] == 'mark' then
    redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2])
end
return marker and "marked '" .. marker .. "'"
