-- What guarded_acquire.lua and guarded_extend.lua begin with: may the node vote? Not a script by
-- itself.
--
-- ARGV[1]  the run id of the server, as it was when the connection was vetted
-- sets     refusal  the code if it may not, else nil
--          wait     how long a quarantine lasts, in milliseconds
--          now      the node's time, in microseconds
--
-- Data that came from elsewhere (a resynchronisation, a restored copy) brought its marker along. So
-- a marker with another run id is as good as none.
local refusal, wait = nil, 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local marker = redis.call('GET', marker_key)
local quarantine = redis.call('PTTL', quarantine_key)
local expected = fingerprint .. ARGV[1]
if marker ~= expected and marker ~= expected .. ' durable' then
    refusal = -3
elseif quarantine ~= -2 then
    -- The clock was set back: a whole quarantine from now is enough, whatever it said before.
    if quarantine > quarantine_length then
        redis.call('PEXPIRE', quarantine_key, quarantine_length)
        quarantine = quarantine_length
    end
    refusal, wait = -4, quarantine
end

-- On both sides: a token from the future would make everybody else pay for ever, and one from the
-- past may be older than what this node has forgotten.
local function in_window(stamp)
    return stamp - now <= window and now - stamp <= window
end
