-- Whether a resource is free. Not a script by itself. Needs queue.lua.

-- How long the holder has left, in milliseconds: -1 for ever, false without one.
local function holder(key)
    local left = redis.call('PTTL', key)
    return left ~= -2 and left
end

-- For how long a reservation holds off a place, in milliseconds; nil if it does not. One of another
-- form says nothing, and so does one that lives for longer than any client makes them. `token`: see
-- queue.lua.
local function holds_off(reserved, key, place, token, now)
    if type(reserved) ~= 'string' then
        return nil
    end
    local whom, since = string.match(reserved, '^(%x+):(%d+)$')
    local client, arrival = parts(place)
    if not whom or whom == client or (client and since + 0 > seen(arrival, token, now)) then
        return nil
    end
    local left = redis.call('PTTL', reserved_prefix .. key)
    return left >= 0 and left <= longest_reservation and left or nil
end
