-- Tells who holds resources, as far as this node knows.
--
-- One question or several, as in release.lua.
--
-- KEYS     the lock keys
-- returns  for each key: {how long it has left in milliseconds, -1 for ever, -2 if it is not there;
--          its value, '' if it has none that is a text}, or an error
local common, own, more, shared, replies = 0, 0, 0, {}, {}

-- Longer ones are no client's.
local longest = 1024

local function vote(key)
    local value = redis.pcall('GET', key)
    local text = type(value) == 'string' and string.sub(value, 1, longest)
    return {redis.call('PTTL', key), text or ''}
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
