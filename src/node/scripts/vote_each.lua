-- Answers each question that has no answer yet by `vote`. Not a script by itself.
--
-- common   how many arguments come first, whatever is asked
-- own      how many belong to each question, next to its key
-- more     how many it has besides, which `vote` finds in `shared`. If they are the same for all
--          questions, they come once, behind the common ones. Otherwise each question has them
--          behind its own
-- shared   shared[0] is the number of the question
-- replies  gets the answers. An error in one of several is the answer to its own question only:
--          those before it have had their effect
local alike = #ARGV == common + more + own * #KEYS
local size = alike and own or own + more
for i, key in ipairs(KEYS) do
    if not replies[i] then
        local at = common + (i - 1) * size + (alike and more or 0)
        for j = 1, more do
            shared[j] = ARGV[alike and common + j or at + own + j]
        end
        shared[0] = i
        local ok, reply = true, nil
        if #KEYS == 1 then
            reply = vote(key, unpack(ARGV, at + 1, at + own))
        else
            ok, reply = pcall(vote, key, unpack(ARGV, at + 1, at + own))
        end
        if not ok and type(reply) == 'string' then  -- As most versions of Redis tell it.
            reply = {err = reply}
        end
        replies[i] = reply
    end
end
