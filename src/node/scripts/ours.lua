-- Whether the value of a lock key says that it is ours. Not a script by itself.
local function ours(value, id)
    return value == id
end
