-- Compare and extend: sets the ttl of keys that are ours, unless they have longer to live, and sets
-- keys that are gone again.
--
-- One question or several, as in release.lua.
--
-- KEYS     the lock keys
-- ARGV     for each key: the attempt id; shared: the ttl in milliseconds. See vote_each.lua
-- returns  for each key: 1 if it is ours and lives at least the ttl, 0 if it is another's, or an
--          error
--
-- Sets a key again, because an extension counts only before the old deadline: until then an old
-- quorum stands, so nobody was granted in between. One that arrives after its release leaves a key
-- for one ttl. Never shortens the ttl: an older extension may arrive late, and a shorter one that
-- reaches only some nodes would take from a deadline that was promised. A key without a ttl (-1)
-- gets one.
--include ours.lua
local common, own, more, shared, replies = 0, 1, 1, {}, {}

local function vote(key, id)
    local ttl = shared[1]
    local value = redis.call('GET', key)
    if not value then
        return redis.call('SET', key, id, 'NX', 'PX', ttl) and 1 or 0
    end
    if not ours(value, id) then
        return 0
    end
    if redis.call('PTTL', key) < tonumber(ttl) then
        redis.call('PEXPIRE', key, ttl)
    end
    return 1
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
