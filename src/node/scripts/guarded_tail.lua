-- What all guarded scripts end with: calls `vote` for each question. Not a script by itself.
--
-- An error is the answer to its own question only: those before it have had their effect.
local replies = {}
local size = #ARGV / #KEYS
for i, key in ipairs(KEYS) do
    local at = (i - 1) * size
    local ok, reply = pcall(vote, key, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
    if not ok and type(reply) == 'string' then  -- As Redis 6.2 tells it.
        reply = {err = reply}
    end
    replies[i] = reply
end
return replies
