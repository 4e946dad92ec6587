-- What scripts that vote end with: calls `vote` for each question. Not a script by itself.
--
-- ARGV     as many as `common` says are for all questions; the others belong to the keys, in their
--          order
-- returns  the answer to a single question; for several of them a list of answers, in which an
--          error is the answer to its own question only: those before it have had their effect
if #KEYS == 1 then
    return vote(KEYS[1], unpack(ARGV, common + 1))
end
local replies = {}
local size = (#ARGV - common) / #KEYS
for i, key in ipairs(KEYS) do
    local at = common + (i - 1) * size
    local ok, reply = pcall(vote, key, unpack(ARGV, at + 1, at + size))
    if not ok and type(reply) == 'string' then  -- As most versions of Redis tell it.
        reply = {err = reply}
    end
    replies[i] = reply
end
return replies
