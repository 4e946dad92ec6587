// Any text as a list of node URLs: it is refused in one line, or gives nodes from which a URL can
// be made that gives them again.

#include <redlock/config.hpp>

#include "fuzz/fuzz_target.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using redlock::node_config;
using redlock::fuzz::require;

namespace {

std::string encoded(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    for (const char each : text)
    {
        const auto byte = static_cast<unsigned char>(each);
        made += {'%', digits[byte / 16], digits[byte % 16]};
    }
    return made;
}

std::string url_of(const node_config& node)
{
    const std::string login = encoded(node.username) + ":" + encoded(node.password) + "@";
    if (!node.unix_socket.empty())
        return "unix://" + login + "/" + encoded(std::string_view(node.unix_socket).substr(1));
    const bool v6 = node.host.find(':') != node.host.npos;
    const std::string host = v6 ? "[" + encoded(node.host) + "]" : encoded(node.host);
    return (node.tls ? "rediss://" : "redis://") + login + host + ":" + std::to_string(node.port) +
           "/" + std::to_string(node.database);
}

bool is_same(const node_config& a, const node_config& b)
{
    return a.host == b.host && a.port == b.port && a.unix_socket == b.unix_socket &&
           a.username == b.username && a.password == b.password && a.database == b.database &&
           a.tls.has_value() == b.tls.has_value();
}

void check(const node_config& node)
{
    require(!node.host.empty(), "a node has a host");
    require(node.port != 0, "a node has a port");
    require(redlock::fuzz::is_on_one_line(node.name()), "a name has no control characters");
    const bool absolute = node.unix_socket.starts_with('/');
    require(absolute || node.unix_socket.empty(), "the path of a socket is absolute");
    require(is_same(redlock::parse_node(url_of(node)), node), "a URL of a node gives the node");
}

std::vector<node_config> parse(std::string_view urls)
{
    try
    {
        return redlock::parse_nodes(urls);
    }
    catch (const std::invalid_argument& refused)
    {
        const std::string_view message = refused.what();
        require(message.starts_with("redlock: "), "a refusal says whose it is");
        require(redlock::fuzz::is_on_one_line(message), "a refusal is one line");
        return {};
    }
}

/// A password with anything in it is in no message, not even in part.
void check_password(std::string_view anything)
{
    constexpr std::string_view hidden = "s3cr3t";

    if (anything.find(hidden) != anything.npos)
        return;
    const std::string password = std::string(hidden).append(anything).append(hidden);
    for (const char* const rest : {"@host:port", "@", "@host/x", "@ho st", "@[::1", "@host?x"})
    {
        try
        {
            (void)redlock::parse_nodes("redis://user:" + password + rest);
        }
        catch (const std::invalid_argument& refused)
        {
            const std::string_view message = refused.what();
            require(message.find(hidden) == message.npos, "a refusal does not show the password");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view urls = redlock::fuzz::as_text(data, size);
    for (const node_config& node : parse(urls))
        check(node);
    check_password(urls);
    return 0;
}
