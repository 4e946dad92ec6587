-- Releases keys that are ours, and keeps them until a time that counts from their acquisition.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     for each key: the attempt id, the token of the attempt; shared: the place, as in
--          guarded_release.lua; how long from the token on to keep the key, in milliseconds. See
--          vote_each.lua
-- returns  for each key: 1 if it was ours and is kept, or its time has passed and it is deleted, or
--          this script has kept it before; 0 if it was not there or not ours; or an error
--
-- A key that is kept has a value that is nobody's: no id is "kept". The rest of the value stays.
-- It says to those who look who was the last, and to this script which hold it was.
--
-- A script, because nothing may set the key between the comparison and the change. Asks for no
-- permission to vote, as a release does not.
--include queue.lua
--include give_back.lua
--include ours.lua
local common, own, more, shared = 0, 2, 2, {}

-- Those who wait are told when to ask again, and not woken.
local function keep(key, value, left, place)
    redis.call('SET', key, value, 'PX', left)
    if place ~= '-' then
        keep_or_leave(key, place)
        queue().tell_next(key, left)
    end
end

local function vote(key, id, token)
    local place, at_least = shared[1], shared[2]
    local value = redis.call('GET', key)
    if ours(value, id) then
        local time = redis.call('TIME')
        local past = time[1] * 1000000 + time[2] - token
        -- The token was in the window. Should it be further ahead now, the clock was set back.
        local left = math.ceil(at_least - math.max(past, -window) / 1000)
        if left > 0 then
            -- One that c70efbe has written is an id alone.
            local rest = string.match(value, '^%x+ %d+( .*)$') or ' - 0 ' .. token .. ' '
            keep(key, 'kept ' .. token .. rest, left, place)
        else
            give_back(key, place)
        end
        return 1
    end
    if value and string.find(value, 'kept ' .. token .. ' ', 1, true) == 1 then
        return 1
    end
    bury(key, token, place)
    return 0
end
--include vote_each.lua
