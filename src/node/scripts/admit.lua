-- Decides whether a node may vote: run once on every new connection.
--
-- KEYS[1]  the marker: the fingerprint of the clients' settings, the server's incarnation, and
--          ' durable' if the server was admitted as one that keeps its data
-- KEYS[2]  the quarantine: exists while the node must not vote
-- ARGV[1]  the fingerprint, which is no beginning of another one
-- ARGV[2]  the incarnation: the run id, which is new whenever the server starts; where a failover
--          may happen also the replication id, which is new whenever it becomes a master
-- ARGV[3]  how long a quarantine lasts, in milliseconds
-- ARGV[4]  1 if the settings say that the server keeps its data over a restart, else 0
-- ARGV[5]  1 if the client knows that the server was not restarted: it has admitted this one
--          before, or it knew another one while this one ran; else 0
-- ARGV[6]  1 if a node without a marker gets one, else 0
-- ARGV[7]  only while a fleet raises ttl_max: the fingerprint with the smaller one; ARGV[1] has the
--          larger one
-- ARGV[8]  1 if the client asks for a larger ttl than that one allows: the marker is raised; else 0
-- returns  the milliseconds until the node may vote, 0 for at once, -1 for never; in a list with
--          "smaller" if the marker has the fingerprint ARGV[7]; or "marked '" and the marker, if it
--          has another fingerprint: one that is a number is no number here; or "unmarked", if it
--          has none and gets none
--
-- No marker means that the node is new or has lost its data; a new incarnation, that it was
-- restarted and may have lost some, or that the data came from another server, together with its
-- marker.
-- Either way it may have forgotten locks. Only a server that was durable before it was restarted,
-- and still is, has forgotten none.
--
-- What its own disk keeps says nothing of data that another server has sent it, so a server that
-- was a replica since it started is not durable. Only a script can tell: a client that asks first
-- and admits afterwards misses what happens in between.
--
-- A script also because several clients may meet a restarted node at the same time: only the first
-- must start the quarantine.
local function was_never_a_replica()
    local told = redis.pcall('INFO', 'replication')
    return type(told) == 'string' and string.find(told, 'second_repl_offset:-1\r', 1, true) ~= nil
end

local marker = redis.call('GET', KEYS[1])

local function is_marked(beginning)
    return marker and beginning and string.sub(marker, 1, #beginning) == beginning
end

local found = is_marked(ARGV[7]) and ARGV[7] or ARGV[1]
local fingerprint = ARGV[8] == '1' and ARGV[1] or found
local durable = ARGV[4] == '1' and was_never_a_replica()
local wanted = fingerprint .. ARGV[2] .. (durable and ' durable' or '')

if marker and not is_marked(found) then
    return "marked '" .. marker
end
if not marker and ARGV[6] ~= '1' then
    return 'unmarked'
end
if marker ~= wanted then
    local same_life = is_marked(found .. ARGV[2])
    local restarted = ARGV[5] ~= '1'
    local kept_all = marker and durable and restarted and string.sub(marker, -8) == ' durable'
    -- The quarantine first: if memory is short, the node stays as it was.
    if not (same_life or kept_all) then
        redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
    end
    redis.call('SET', KEYS[1], wanted)
end
local left = redis.call('PTTL', KEYS[2])
-- The clock was set back: a whole quarantine from now is enough, whatever it said before.
if left > tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
    left = tonumber(ARGV[3])
end
left = left == -2 and 0 or left
return fingerprint == ARGV[1] and left or {left, 'smaller'}
