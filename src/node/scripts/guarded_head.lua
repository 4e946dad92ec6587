-- What guarded_acquire.lua and guarded_extend.lua begin with: may the node vote? Not a script by
-- itself.
--
-- ARGV[1]  how the marker ends: settings, and the incarnation of the server, as it was when the
--          connection was vetted; see admit.lua
-- sets     refusal  the code if it may not, else nil
--          wait     how long a quarantine lasts, in milliseconds
--          now      the node's time, in microseconds
--
-- Data that came from elsewhere (a resynchronisation, a restored copy) brought its marker along. So
-- a marker with another run id is as good as none.
--
-- Where a failover may happen, the incarnation ends with a blank and the replication id, which is
-- new whenever a server becomes a master. A server that was a replica in between has replaced its
-- data, and may have got its own marker back.
local refusal, wait = nil, 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local marker = redis.call('GET', marker_key)
local quarantine = redis.call('PTTL', quarantine_key)
local expected = marker_begin .. ARGV[1]
local fails_over = string.sub(ARGV[1], -41, -41) == ' '
local function is_same_master()
    local told = redis.call('INFO', 'replication')
    return string.find(told, 'role:master', 1, true) and
        string.find(told, 'master_replid:' .. string.sub(ARGV[1], -40), 1, true)
end
if marker ~= expected and marker ~= expected .. ' durable' then
    refusal = -3
elseif fails_over and not is_same_master() then
    refusal = -3
elseif quarantine ~= -2 then
    -- The clock was set back: a whole quarantine from now is enough, whatever it said before.
    if quarantine > longest_quarantine then
        redis.call('PEXPIRE', quarantine_key, longest_quarantine)
        quarantine = longest_quarantine
    end
    refusal, wait = -4, quarantine
end

-- On both sides: a token from the future would make everybody else pay for ever, and one from the
-- past may be older than what this node has forgotten.
local function in_window(stamp)
    return stamp - now <= window and now - stamp <= window
end
