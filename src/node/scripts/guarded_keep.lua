-- Releases holds, and keeps their resources until a time that counts from their acquisition.
--
-- One question or several, and constants of the client, as in guarded_acquire.lua.
--
-- KEYS     the lock keys; the other keys are made of them
-- ARGV     how the marker ends; for each key: the attempt id; the stamp, which is the time at which
--          it was asked for, in microseconds; the token of the attempt; shared: the place, as in
--          guarded_release.lua; how long from the token on to keep the key, in milliseconds. See
--          vote_each.lua
-- returns  for each key: the stamp, if the resource is kept or its time has passed. Otherwise
--          {code, the stamp, a number, the node's time in microseconds}, or an error:
--           0  gone          the key is another's, or what the hold keeps was freed
--          -2  clock         the stamp is out of the window
--          -3, -4            it had no key and must not vote, as in guarded_acquire.lua
--          What the last ones could keep they keep all the same, but it does not count.
--
-- A key that is kept has a value that is nobody's: no id is "kept". The rest of the value stays.
-- It says to those who look who was the last, and to this script which hold it was.
--
-- Without a key it keeps the resource too: the node may have been away, or have forgotten the hold.
--
-- A script, because nothing may set the key between the comparison and the change. Asks for no
-- permission to vote, as a release does not.
local known = redis.call('MGET', marker_key, quarantine_key)
--include guarded_head.lua
local to_wake = {}
--include queue.lua
--include give_back.lua
--include over.lua
--include ours.lua
local common, own, more, shared, replies = 1, 3, 2, {}, {}

-- What it says when it has done what it could.
local function answer(stamp, had_key)
    if not had_key and refusal then
        return {refusal, stamp, wait, now}
    end
    if stamp < first or stamp > last then
        return {-2, stamp, 0, now}
    end
    return stamp
end

-- How long to keep the resource from now on, in milliseconds. The token was in the window: should
-- it be further ahead now, the clock was set back.
local function left_of(at_least, token)
    return math.ceil(at_least - math.max(now - token, -window) / 1000)
end

-- Those who wait are told when to ask again, and not woken.
local function keep(key, value, left, place, token, found)
    redis.call('SET', key, value, 'PX', left)
    if place ~= '-' then
        keep_or_leave(key, place, token, found)
        local behind = redis.pcall('ZRANGE', queue_prefix .. key, 0, 0)[1]
        if behind then
            redis.pcall('PUBLISH', channel_prefix .. behind .. next_suffix, left .. ' ' .. key)
        end
    end
end

local function vote(key, id, stamp, token)
    stamp = stamp + 0
    local place, left = shared[1], left_of(shared[2], token)
    local value = redis.call('GET', key)
    local mark = over(key, token)
    if value and string.find(value, 'kept ' .. token .. ' ', 1, true) == 1 then
        -- The clock may have been another then.
        if redis.call('PTTL', key) < left then
            redis.call('PEXPIRE', key, left)
        end
        return answer(stamp, false)  -- It may have been kept without a right to vote.
    end
    local found = ours(value, id)
    local has_other = value and not found and not kept_before(value, token)
    if not found then
        bury(key, token, place)
    end
    if has_other or mark.is('freed') then
        if found then
            give_back(key, place, token)
        end
        mark.set('released')
        return {0, stamp, 0, now}
    end
    if left > 0 then
        -- One that c70efbe has written is an id alone.
        local rest = found and string.match(value, '^%x+ %d+( .*)$') or ' - 0 ' .. token .. ' '
        keep(key, 'kept ' .. token .. rest, left, place, token, found)
    elseif found then
        give_back(key, place, token)
    end
    mark.set('released')
    return answer(stamp, found)
end
--include vote_each.lua
--include wake.lua
return #KEYS == 1 and replies[1] or replies
