-- Sets the ttl of keys that are ours, unless they have longer to live, if the node may vote.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the fence keys are made of them
-- ARGV     how the marker ends; for each key: the attempt id; the stamp, which is the time at which
--          the extension was asked for, in microseconds; the token of the acquisition; shared: the
--          ttl in milliseconds; the stamp of a note, 0 for none, and the note. See vote_each.lua
--          and ours.lua
-- returns  for each key: the stamp, if the key is ours and lives at least the ttl. Otherwise
--          {code, the stamp, a number, the node's time in microseconds}, or an error:
--           0  gone          the key is not there or not ours
--          -5  revoked       it is ours, and is not to be extended any more
--          -2, -3, -4        as in guarded_acquire.lua
--
-- A script, because the key may expire between looking and setting. Never creates the key: another
-- client may have held the resource since. Never shortens the ttl: an older extension may arrive
-- late.
--include guarded_head.lua
--include ours.lua
local common, own, more, shared = 1, 3, 3, {}

-- Takes a note, unless it has a later one. A node without memory for it extends all the same.
local function announce(key, value)
    local stamp, note = shared[2], shared[3]
    local head, last = string.match(value, '^(%x+ %d+ [%x-]+ %d+ )(%d+) ')
    if head and stamp + 0 > last + 0 then
        redis.pcall('SET', key, head .. stamp .. ' ' .. note, 'KEEPTTL')
    end
end

local function vote(key, id, stamp, token)
    stamp = stamp + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local ttl = shared[1]
    local value = redis.call('MGET', key)[1]
    if not ours(value, id) then
        return {0, stamp, 0, now}
    end
    if string.find(value, '^%x+ %d+ [%x-]+ 1 ') then
        return {-5, stamp, 0, now}
    end
    if not in_window(stamp) then
        return {-2, stamp, 0, now}
    end
    -- The fence has to outlive the lock, however long that is held.
    local fence_key = fence_prefix .. key
    if redis.call('PEXPIRE', fence_key, fence_ttl) == 0 then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
    end
    if redis.call('PTTL', key) < ttl + 0 then
        redis.call('PEXPIRE', key, ttl)
    end
    if shared[2] ~= '0' then
        announce(key, value)
    end
    return stamp
end
--include vote_each.lua
