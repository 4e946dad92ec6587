-- Compare and delete: gives resources back.
--
-- Questions share a script, because entering a script costs as much as one of them. One alone is
-- answered by itself, several are answered with a list.
--
-- KEYS     the lock keys
-- ARGV     for each key: the attempt id
-- returns  for each key: 1 if it was ours and is deleted, 0 if it was not there or not ours, or
--          an error
--
-- A script, because nothing may set a key between the comparison and the deletion. An error (the
-- key has another type, no permission) comes from the first command, before anything changed.
--
-- The usual case comes first, at the top level: a script makes its functions anew whenever it is
-- run.
local count, replies, answered = #KEYS, {}, 0
if count == 1 then
    if redis.call('GET', KEYS[1]) == ARGV[1] then
        return redis.call('DEL', KEYS[1])
    end
else
    local known, given_back = redis.pcall('MGET', unpack(KEYS)), {}
    for i = 1, count do
        if known[i] == ARGV[i] then
            answered = answered + 1
            given_back[answered] = KEYS[i]
            replies[i] = 1
        end
    end
    if answered > 0 then
        redis.call('DEL', unpack(given_back))
    end
    if answered == count then
        return replies
    end
end

--include ours.lua
local common, own, more, shared = 0, 1, 0, {}

local function vote(key, id)
    if ours(redis.call('GET', key), id) then
        return redis.call('DEL', key)
    end
    return 0
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
