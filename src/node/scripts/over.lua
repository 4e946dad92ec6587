-- The marks that holds of a resource are over. Not a script by itself.
--
-- They are read only where an extension or a release that keeps the resource finds no key: without
-- them, one that arrives late would take a hold again that is over.
--   over_prefix .. key                         "released freed", two tokens, 0 for none: holds up
--                                              to the first have been given back, and what holds up
--                                              to the second have kept was freed
--   revoked_prefix .. token .. ':' .. key      the hold with this token isn't to be taken again
--
-- They live for a quarantine, so longer than any hold that they are about and than any command
-- whose stamp the window lets in.
--
-- One function, made where it is called: a script makes its functions anew whenever it is run.
local function over(key, token)
    local over_key = over_prefix .. key
    local revoked_key = revoked_prefix .. token .. ':' .. key
    local found = redis.call('MGET', over_key, revoked_key)
    local released, freed = string.match(found[1] or '', '^(%d+) (%d+)$')
    local tokens = {released = (released or 0) + 0, freed = (freed or 0) + 0}

    local function is(how)
        return tokens[how] >= token + 0
    end

    -- Tokens have up to 16 digits: tostring would round them.
    local function set(how)
        tokens[how] = math.max(tokens[how], token + 0)
        local value = string.format('%.0f %.0f', tokens.released, tokens.freed)
        redis.call('SET', over_key, value, 'PX', longest_quarantine)
    end

    local function revoke()
        redis.call('SET', revoked_key, '1', 'PX', longest_quarantine)
    end

    return {is = is, set = set, revoke = revoke, revoked = found[2]}
end

-- What an earlier hold's release keeps, should it come late, is in nobody's way.
local function kept_before(value, token)
    local kept = value and string.match(value, '^kept (%d+) ')
    return kept and kept + 0 < token + 0
end
