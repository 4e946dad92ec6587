-- Gives a hold that an extension has taken again what an extension does not carry: the name of the
-- client, and a note that was announced before.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys
-- ARGV     for each key: the attempt id, the token of the attempt; shared: the name of the client
--          in queues or '-'; the stamp of the note, and the note. See ours.lua
-- returns  for each key: 1 if it is ours and lacked the name, 0 if not, or an error
--
-- A script, because nothing may set the key between the comparison and the change.
local common, own, more, shared, replies = 0, 2, 3, {}, {}

local function vote(key, id, token)
    local client, stamp, note = shared[1], shared[2], shared[3]
    local head = id .. ' ' .. token
    local value = redis.call('MGET', key)[1] or ''
    local flags, last, said = string.match(value, '^' .. head .. ' %-%- ([01]) (%d+) (.*)$')
    if not flags then
        return 0
    end
    if last + 0 > stamp + 0 then
        stamp, note = last, said
    end
    value = head .. ' ' .. client .. ' ' .. flags .. ' ' .. stamp .. ' ' .. note
    redis.call('SET', key, value, 'KEEPTTL')
    return 1
end
--include vote_each.lua
return #KEYS == 1 and replies[1] or replies
