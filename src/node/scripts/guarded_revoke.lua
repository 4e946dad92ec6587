-- Marks holds as not to be extended any more, and makes sure that a late acquisition of such a hold
-- is refused, and an extension that would take such a hold again.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the fence keys are made of them
-- ARGV     how the marker ends; for each key: the stamp, which is the time at which it was asked
--          for, in microseconds; the token of the hold
-- returns  for each key: {code, the stamp, a number, the node's time in microseconds}, or an error:
--           1  marked    the hold is here and has the mark
--           0  absent    the key is not there, or another hold's, or kept after its release; a
--                        fence refuses this hold
--          -1  denied    the value of the key has no token: nobody can tell whose it is
--          -2  clock     the stamp is out of the window, or the token ahead of it
--          The number: for how long at most, in milliseconds, this node may have promised the
--          resource to the hold; -1 for ever
--
-- A node that must not vote answers too. It may have forgotten an extension, but not one that lives
-- for longer than its quarantine. One whose clock is off does not: the key may have expired there
-- long before the hold ends.
--
-- A script, because an extension may come between looking and marking.
local known = redis.call('MGET', marker_key, quarantine_key)
--include guarded_head.lua
--include over.lua
local common, own, more, shared, replies = 1, 2, 0, {}, {}

-- A quarantine without an end is one that an operator has set.
local function may_have_promised(left)
    local unknown = refusal == -3 or wait < 0
    return math.max(left, unknown and longest_quarantine or wait)
end

-- Tells the holder, unless it has no channel or is not there.
local function tell(client, token, key)
    if string.find(client, '^%x') then
        redis.pcall('PUBLISH', channel_prefix .. client .. revoked_suffix, token .. ' ' .. key)
    end
end

local function vote(key, stamp, token)
    stamp = stamp + 0
    if stamp < first or stamp > last or token + 0 > last then
        return {-2, stamp, 0, now}
    end
    local mark = over(key, token)
    local value = redis.call('MGET', key)[1]
    local left = redis.call('PTTL', key)
    local head, holder, client, rest
    if value then
        head, holder, client, rest = string.match(value, '^(%x+ (%d+) ([%x-]+) )%d+( %d+ .*)$')
    end
    if holder == token then
        redis.call('SET', key, head .. '1' .. rest, 'KEEPTTL')
        mark.revoke()  -- The key may expire before the hold ends.
        tell(client, token, key)
        return {1, stamp, left == -1 and left or may_have_promised(left), now}
    end
    local kept = value and string.find(value, '^kept %d+ ')  -- The hold has ended.
    if left ~= -2 and not holder and not kept then
        return {-1, stamp, left, now}
    end
    local fence_key = fence_prefix .. key
    local fence = redis.call('GET', fence_key)
    if not fence or fence + 0 < token + 0 then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
    end
    mark.revoke()
    return {0, stamp, may_have_promised(0), now}
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
