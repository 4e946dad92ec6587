#include "node_commands.hpp"

#include "connection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace bench {
namespace {

// The server counts what scripts call too. In guarded mode scripts call SET and PTTL, in plain mode
// only clients do.
bool is_sent_by_clients(std::string_view line, redlock::mode mode)
{
    static constexpr std::array always{"evalsha:", "eval:", "client", "ping:"};
    static constexpr std::array in_plain_mode{"set:", "pttl:"};
    constexpr std::string_view prefix = "cmdstat_";
    if (!line.starts_with(prefix))
        return false;
    const std::string_view name = line.substr(prefix.size());
    const auto begins = [name](std::string_view with) { return name.starts_with(with); };
    return std::ranges::any_of(always, begins) ||
           (mode == redlock::mode::plain && std::ranges::any_of(in_plain_mode, begins));
}

// From a line such as `cmdstat_ping:calls=2,usec=1,...`.
std::uint64_t calls_of(std::string_view line)
{
    constexpr std::string_view calls = ":calls=";
    const std::size_t at = line.find(calls);
    std::uint64_t count = 0;
    if (at != line.npos)
        std::from_chars(line.data() + at + calls.size(), line.data() + line.size(), count);
    return count;
}

}  // namespace

std::uint64_t count_commands(std::span<const std::uint16_t> ports, redlock::mode mode)
{
    std::uint64_t commands = 0;
    for (const std::uint16_t port : ports)
    {
        connection node(port, {.output = 4096, .input = 65536});
        const std::string statistics = node.call(make_command({"INFO", "commandstats"}));
        std::string_view rest = statistics;
        while (!rest.empty())
        {
            const std::string_view line = rest.substr(0, rest.find("\r\n"));
            rest.remove_prefix(std::min(rest.size(), line.size() + 2));
            if (is_sent_by_clients(line, mode))
                commands += calls_of(line);
        }
    }
    return commands;
}

}  // namespace bench
