-- Takes clients out of queues: they wait no longer.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     shared: the name of the client, see queue.lua and vote_each.lua
-- returns  for each key: 1, or an error
--
-- What was reserved for the client goes to the next one, if the resource is free.
--include queue.lua
--include free.lua
local common, own, more, shared, replies = 0, 0, 1, {}, {}
local to_wake = {}

local function vote(key)
    local client = shared[1]
    redis.call('ZREM', queue_prefix .. key, client)
    local reserved_key = reserved_prefix .. key
    local reserved = redis.call('MGET', reserved_key)[1]
    if reserved and string.match(reserved, '^(%x+):') == client then
        redis.call('DEL', reserved_key)
        if not holder(key) then
            to_wake[#to_wake + 1] = key
        end
    end
    return 1
end
--include vote_each.lua
--include wake.lua
return #KEYS == 1 and replies[1] or replies
