#include "chaos/fenced_store.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace redlock::test {

namespace {

// KEYS: a hash with the fence and the version, a list of the writes.
// ARGV: whether the token is checked, the token; for a write its id and the version that was read.
constexpr const char* script = R"(
local fence = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
local token = tonumber(ARGV[2])
if ARGV[1] == 'checked' and token < fence then
    return redis.error_reply('FENCED')
end
if token > fence then
    redis.call('HSET', KEYS[1], 'fence', ARGV[2])
end
if not ARGV[3] then
    return tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
end
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('RPUSH', KEYS[2], table.concat({ARGV[3], ARGV[2], ARGV[4], version}, ' '))
return version
)";

std::string hash_of(std::uint32_t resource)
{
    return "store:" + std::to_string(resource);
}

std::string list_of(std::uint32_t resource)
{
    return "writes:" + std::to_string(resource);
}

}  // namespace

void fenced_store::read(operation& what)
{
    if (const auto version = access(what, false))
        what.version = *version;
}

void fenced_store::write(operation& what)
{
    if (const auto version = access(what, true))
        what.written = *version;
}

std::optional<std::uint64_t> fenced_store::access(operation& what, bool writes)
{
    std::vector<std::string> command{
        "EVAL",
        script,
        "2",
        hash_of(what.resource),
        list_of(what.resource),
        checks_ ? "checked" : "unchecked",
        std::to_string(what.token.value())
    };
    if (writes)
    {
        command.push_back(std::to_string(what.id));
        command.push_back(std::to_string(what.version));
    }
    try
    {
        if (!server_)
            server_.emplace(port_);
        const std::string reply = server_->command(command);
        constexpr std::string_view integer = "(integer) ";
        if (reply.starts_with(integer))
        {
            what.result = outcome::ok;
            return std::stoull(reply.substr(integer.size()));
        }
        if (reply.find("FENCED") == std::string::npos)
            throw std::runtime_error("the store said: " + reply);
        what.result = outcome::refused;
    }
    catch (const std::system_error&)  // No answer: it may have been done or not.
    {
        server_.reset();
        what.result = outcome::unknown;
    }
    return {};
}

std::vector<store_entry> fenced_store::entries(resp_client server, std::uint32_t count)
{
    constexpr std::size_t page = 10'000;
    std::vector<store_entry> all;
    for (std::uint32_t resource = 0; resource < count; ++resource)
    {
        for (std::size_t first = 0, before = ~first; all.size() != before; first += page)
        {
            before = all.size();
            std::istringstream lines(server.command(
                {"LRANGE",
                 list_of(resource),
                 std::to_string(first),
                 std::to_string(first + page - 1)}
            ));
            store_entry entry;
            entry.resource = resource;
            std::uint64_t token = 0;
            while (lines >> entry.write >> token >> entry.base >> entry.version)
            {
                entry.token = fencing_token::from_value(token);
                all.push_back(entry);
            }
        }
    }
    return all;
}

}  // namespace redlock::test
