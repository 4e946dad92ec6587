-- Decides whether a node may vote: run once on every new connection.
--
-- KEYS[1]  the marker: the fingerprint of the clients' settings, and the server's run id
-- KEYS[2]  the quarantine: exists while the node must not vote
-- ARGV[1]  the fingerprint, which is no beginning of another one
-- ARGV[2]  the run id, which is new whenever the server starts
-- ARGV[3]  how long a quarantine lasts, in milliseconds
-- ARGV[4]  1 if the server keeps its data over a restart, else 0
-- returns  the milliseconds until the node may vote, 0 for at once; or the marker, if it has
--          another fingerprint
--
-- No marker means that the node is new or has lost its data; a new run id, that it was restarted
-- and may have lost some. Either way it may have forgotten locks. A script, because of the several
-- clients that meet a restarted node at the same time only the first must start the quarantine.
local marker = redis.call('GET', KEYS[1])
local wanted = ARGV[1] .. ARGV[2]

if marker and string.sub(marker, 1, #ARGV[1]) ~= ARGV[1] then
    return marker
end
if marker ~= wanted then
    -- The quarantine first: if memory is short, the node stays as it was.
    if not (marker and ARGV[4] == '1') then
        redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
    end
    redis.call('SET', KEYS[1], wanted)
end
return math.max(redis.call('PTTL', KEYS[2]), 0)
