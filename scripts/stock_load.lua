-- The buyers of scripts/stock_load.sh, for wrk. Each thread buys from one instance, one unit with
-- each request, and counts what it is told.
--
--   wrk ... -s stock_load.lua http://127.0.0.1:PORT/items/1/sell -- PORT...

local threads = {}

function setup(thread)
    table.insert(threads, thread)
    thread:set("number", #threads)
end

function init(args)
    local port = args[(number - 1) % #args + 1]
    wrk.thread.addr = wrk.lookup("127.0.0.1", port)[1]
    wrk.method = "POST"
    wrk.body = '{"quantity": 1}'
    wrk.headers["Content-Type"] = "application/json"
    told = {}
end

function response(status, headers, body)
    local what = status == 200 and "sold" or string.match(body, '"error":"([%w_]+)"') or status
    told[what] = (told[what] or 0) + 1
end

function done(summary, latency, requests)
    local total = {}
    for _, thread in ipairs(threads) do
        for what, count in pairs(thread:get("told")) do
            total[what] = (total[what] or 0) + count
        end
    end
    -- Those got no answer.
    local errors = summary.errors
    total.broken = errors.connect + errors.read + errors.write + errors.timeout
    local lines = {}
    for what, count in pairs(total) do
        table.insert(lines, "told " .. what .. " " .. count)
    end
    table.sort(lines)
    print(table.concat(lines, "\n"))
end
