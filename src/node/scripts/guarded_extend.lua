-- Sets the ttl of keys that are ours, unless they have longer to live, and takes holds again whose
-- keys are gone, if the node may vote.
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
--           1  taken again   there was no key, now or at an earlier extension; it is ours now, but
--                            has '--' for the client, and maybe not the last note: see
--                            guarded_restore.lua
--           0  gone          the key is another's, or the hold is over
--          -5  revoked       the hold is not to be extended any more
--          -2, -3, -4        as in guarded_acquire.lua
--
-- A script, because the key may expire between looking and setting. Never shortens the ttl: an
-- older extension may arrive late.
--
-- Taking again is safe because an extension counts only before the old deadline: until then an old
-- quorum stands, so nobody was granted in between. Neither the fence nor a reservation refuses it:
-- those who wait leave higher tokens wherever they lose a round. What refuses one that comes after
-- its release is the mark, see over.lua.
local known = redis.call('MGET', marker_key, quarantine_key)
--include guarded_head.lua
--include ours.lua
--include over.lua
local common, own, more, shared, replies = 1, 3, 3, {}, {}

-- Takes a note, unless it has a later one. A node without memory for it extends all the same.
local function announce(key, value)
    local stamp, note = shared[2], shared[3]
    local head, last = string.match(value, '^(%x+ %d+ [%x-]+ %d+ )(%d+) ')
    if head and stamp + 0 > last + 0 then
        redis.pcall('SET', key, head .. stamp .. ' ' .. note, 'KEEPTTL')
    end
end

-- The key isn't ours: its value is, or nil. Returns the code.
local function take_again(key, id, stamp, token, value)
    if value and not kept_before(value, token) then
        return 0
    end
    local mark = over(key, token)
    if mark.revoked then
        return -5
    end
    if mark.is('released') then
        return 0
    end
    if stamp < first or stamp > last then
        return -2
    end
    -- Read first, for an error says that nothing was written.
    local fence_key = fence_prefix .. key
    local fence = redis.call('GET', fence_key)
    if value then
        redis.call('DEL', key)
    end
    local taken = id .. ' ' .. token .. ' -- 0 0 '
    if not redis.call('SET', key, taken, 'NX', 'PX', shared[1]) then
        return 0  -- It has another type.
    end
    local higher = fence and fence + 0 > token + 0
    redis.call('SET', fence_key, higher and fence or token, 'PX', fence_ttl)
    if shared[2] ~= '0' then
        announce(key, taken)
    end
    return 1
end

local function vote(key, id, stamp, token)
    stamp = stamp + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local ttl = shared[1]
    local value = redis.call('MGET', key)[1]
    if not ours(value, id) then
        return {take_again(key, id, stamp, token, value), stamp, 0, now}
    end
    local client = #id + #token + 3  -- Where that begins in the value.
    if string.find(value, '^[%x-]+ 1 ', client) then
        return {-5, stamp, 0, now}
    end
    if stamp < first or stamp > last then
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
    return string.sub(value, client, client + 1) == '--' and {1, stamp, 0, now} or stamp
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
