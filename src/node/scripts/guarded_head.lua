-- What scripts that vote begin with: may the node vote? Not a script by itself.
--
-- ARGV[1]  how the marker ends: settings, and the incarnation of the server, as it was when the
--          connection was vetted; see admit.lua
-- known    the values of the marker and the quarantine, and what else the script has read with them
-- sets     refusal  the code if it may not, else nil
--          wait     how long a quarantine lasts, in milliseconds
--          now      the node's time, in microseconds
--          first, last  the stamps of the window. On both sides: a token from the future would make
--                   everybody else pay for ever, and one from the past may be older than what this
--                   node has forgotten
--
-- Data that came from elsewhere (a resynchronisation, a restored copy) brought its marker along. So
-- a marker with another run id is as good as none.
--
-- Where a failover may happen, the incarnation ends with a blank and the replication id, which is
-- new whenever a server becomes a master. A server that was a replica in between has replaced its
-- data, and may have got its own marker back.
--
-- Without a function, because a script makes its functions anew whenever it is run.
local refusal, wait = nil, 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local first, last = now - window, now + window

local expected = marker_begin .. ARGV[1]
if known[1] ~= expected and known[1] ~= expected .. ' durable' then
    refusal = -3
elseif string.sub(ARGV[1], -41, -41) == ' ' then
    local told = redis.call('INFO', 'replication')
    local same_id = 'master_replid:' .. string.sub(ARGV[1], -40)
    if not (string.find(told, 'role:master', 1, true) and string.find(told, same_id, 1, true)) then
        refusal = -3
    end
end
-- Only admit.lua sets it, whatever was there. So a key of another type is none.
if known[2] and not refusal then
    refusal, wait = -4, redis.call('PTTL', quarantine_key)
    -- The clock was set back: a whole quarantine from now is enough, whatever it said before.
    if wait > longest_quarantine then
        redis.call('PEXPIRE', quarantine_key, longest_quarantine)
        wait = longest_quarantine
    end
end
