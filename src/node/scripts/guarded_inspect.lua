-- Tells who holds resources, as far as this node knows, and how many wait, if the node may vote.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the queue keys are made of them
-- ARGV     how the marker ends; for each key: a stamp, which only the answer repeats
-- returns  for each key, or an error:
--          {1, the stamp, how long the key has left in milliseconds, -1 for ever, -2 if it is not
--          there; the node's time in microseconds, how many clients wait, and the value of the key,
--          '' if it has none that is a text}. A node that must not vote may have forgotten the key:
--          {code, the stamp, a number, the node's time}, as in guarded_acquire.lua:
--          -3, -4
--
-- Writes nothing itself. guarded_head.lua may cut a quarantine that is too long.
local known = redis.call('MGET', marker_key, quarantine_key)
--include guarded_head.lua
local common, own, more, shared, replies = 1, 1, 0, {}, {}

-- Longer ones are no client's.
local longest = 1024

local function vote(key, stamp)
    stamp = stamp + 0
    if refusal then
        return {refusal, stamp, wait, now}
    end
    local value = redis.call('MGET', key)[1]
    local waiting = redis.pcall('ZCARD', queue_prefix .. key)
    return {
        1, stamp, redis.call('PTTL', key), now, type(waiting) == 'number' and waiting or 0,
        string.sub(value or '', 1, longest)
    }
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
