-- Sets lock keys to attempt ids, if the node may vote, the resource is free and the token new.
--
-- One question or several, as in release.lua. Constants of the client are in front, made by
-- src/node/guard.cpp: marker_key, quarantine_key, quarantine_length, fingerprint, window,
-- fence_prefix, fence_ttl. Arguments cost time, constants do not.
--
-- KEYS     the lock keys; the fence keys are made of them
-- ARGV     for each key: the attempt id, the token, the ttl in milliseconds
-- returns  for each key: the token, if the key is ours now, or was already, because a command
--          arrived twice. Otherwise {code, the token, a number, the node's time in microseconds},
--          or an error:
--           0  held          the number: pttl of the holder, -1 without a ttl
--          -1  fence         the number: the recorded token, which is not lower
--          -2  clock         the token is out of the window
--          -3  unmarked      the node lost its data, or is marked for other settings
--          -4  quarantined   the number: how much longer, in milliseconds
--
-- A script, because nothing may happen between looking and setting. An error says that our key was
-- not set: what can fail is the first write or comes before it. Redis may refuse a script for want
-- of memory at its first write, and not later.
--include guarded_head.lua

local function vote(key, id, token, ttl)
    local stamp = token + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local timely = in_window(stamp)
    local fence_key = fence_prefix .. key
    local fence = redis.call('GET', fence_key)

    -- The usual case. NX is what looks for a holder, of whatever type its key is.
    if timely and (not fence or stamp > fence + 0)
            and redis.call('SET', key, id, 'NX', 'PX', ttl) then
        redis.call('SET', fence_key, token, 'PX', fence_ttl)
        return stamp
    end

    -- Why not? MGET, because it does not stumble over a key of another type.
    if redis.call('MGET', key)[1] == id then
        return stamp
    end
    local holder = redis.call('PTTL', key)
    if holder ~= -2 then
        return {0, stamp, holder, now}
    end
    if not timely then
        return {-2, stamp, 0, now}
    end
    return {-1, stamp, fence + 0, now}
end
--include vote_each.lua
