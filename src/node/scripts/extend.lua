-- Compare and extend: sets the ttl of keys that are ours, unless they have longer to live.
--
-- One question or several, as in release.lua.
--
-- KEYS     the lock keys
-- ARGV     for each key: the attempt id; shared: the ttl in milliseconds. See vote_each.lua
-- returns  for each key: 1 if it is ours and lives at least the ttl, 0 if it is not there or not
--          ours, or an error
--
-- Never creates the key: it may have expired, and another client may have held the resource since.
-- Never shortens the ttl: an older extension may arrive late, and a shorter one that reaches only
-- some nodes would take from a deadline that was promised. A key without a ttl (-1) gets one.
--include ours.lua
local common, own, more, shared = 0, 1, 1, {}

local function vote(key, id)
    local ttl = shared[1]
    if not ours(redis.call('GET', key), id) then
        return 0
    end
    if redis.call('PTTL', key) < tonumber(ttl) then
        redis.call('PEXPIRE', key, ttl)
    end
    return 1
end
--include vote_each.lua
