-- What scripts that vote end with: calls `vote` for each question. Not a script by itself.
--
-- common   how many arguments come first, whatever is asked
-- own      how many belong to each question, next to its key
-- more     how many it has besides, which `vote` finds in `shared`. If they are the same for all
--          questions, they come once, behind the common ones. Otherwise each question has them
--          behind its own
-- returns  the answer to a single question; for several of them a list of answers, in which an
--          error is the answer to its own question only: those before it have had their effect
local function share(at)
    for i = 1, more do
        shared[i] = ARGV[at + i]
    end
end

local alike = #ARGV == common + more + own * #KEYS
local first = common
if alike then
    share(common)
    first = common + more
end
if #KEYS == 1 then
    return vote(KEYS[1], unpack(ARGV, first + 1))
end
local replies = {}
local size = alike and own or own + more
for i, key in ipairs(KEYS) do
    local at = first + (i - 1) * size
    if not alike then
        share(at + own)
    end
    local ok, reply = pcall(vote, key, unpack(ARGV, at + 1, at + own))
    if not ok and type(reply) == 'string' then  -- As most versions of Redis tell it.
        reply = {err = reply}
    end
    replies[i] = reply
end
return replies
