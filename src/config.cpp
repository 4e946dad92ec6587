#include <redlock/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace redlock {

namespace {

/// How a URL may begin. Valkey has its own names for the same things.
struct scheme
{
    std::string_view name;
    bool tls = false;
    bool unix_socket = false;
    bool sentinel = false;
};

constexpr std::array schemes{
    scheme{"redis://"},
    scheme{"rediss://", true},
    scheme{"valkey://"},
    scheme{"valkeys://", true},
    scheme{"unix://", false, true},
    scheme{"redis+sentinel://", false, false, true},
    scheme{"rediss+sentinel://", true, false, true},
    scheme{"valkey+sentinel://", false, false, true},
    scheme{"valkeys+sentinel://", true, false, true},
};

constexpr const char* known_schemes =
    "redis://, rediss://, valkey://, valkeys://, unix:// or redis+sentinel://";

constexpr const char* query_rule =
    "a query may set overlap, ca (with TLS), sentinel_user and sentinel_password (with Sentinels), "
    "as in rediss://host?ca=/path/ca.pem&overlap=15s; percent-encode '?', '#' and '&' in a user, "
    "password or path";

/// The scheme at the start of a URL, or one with an empty name.
scheme scheme_of(std::string_view url) noexcept
{
    for (const scheme& each : schemes)
        if (url.starts_with(each.name))
            return each;
    return {};
}

/// What to do about a URL with another scheme. Does not quote it: it may be the rest of a password.
std::string advice_on_scheme(std::string_view url)
{
    const auto end = url.find("://");
    const std::string_view scheme = url.substr(0, end);
    if (end == url.npos)
        return "; write redis:// before a host";
    if (scheme.find("sentinel") != scheme.npos)
        return "; for Sentinels write redis+sentinel://host1,host2,host3/NAME-OF-THE-MASTER";
    if (scheme == "http" || scheme == "https")
        return "; Redis does not speak HTTP";
    return {};
}

/// Whether another URL follows without a comma between them.
bool holds_another(std::string_view url) noexcept
{
    return std::ranges::any_of(schemes, [url](const scheme& each) {
        const auto at = url.find(each.name, 1);
        return at != url.npos && std::string_view(" \t\r\n;|").find(url[at - 1]) != url.npos;
    });
}

/// Whether a text looks like a port, optionally followed by a database, whatever their values.
bool is_like_port(std::string_view text) noexcept
{
    constexpr std::size_t most_digits = 5;
    const auto slash = std::min(text.find('/'), text.size());
    return text.find_first_not_of("0123456789/") == text.npos && slash <= most_digits &&
           text.size() - slash <= 1 + most_digits;
}

/// An address for error messages. What follows a colon may be a password whose '@' was forgotten,
/// unless it's a port.
std::string without_secrets(std::string_view address)
{
    const auto bracket = address.starts_with('[') ? address.find(']') : address.npos;
    const auto colon = address.find(':', bracket == address.npos ? 0 : bracket);
    if (colon == address.npos)
        return std::string(address);
    if (colon > 0 && is_like_port(address.substr(colon + 1)))
        return std::string(address);
    return std::string(address.substr(0, colon)) + ":***";
}

constexpr bool is_control(char c) noexcept
{
    return (c >= '\0' && c < ' ') || c == '\x7f';
}

/// Everything but the credentials, for error messages.
std::string redacted(std::string_view url)
{
    const std::string_view scheme = scheme_of(url).name;
    const std::string_view rest = url.substr(scheme.size());
    // The Sentinels' password may follow.
    if (scheme_of(url).sentinel && rest.find('?') != rest.npos)
        return std::string(scheme) + "***";
    // The last '@', not the first: a password that wasn't percent-encoded may contain one.
    const auto at = rest.rfind('@');
    const std::string_view address = at == rest.npos ? rest : rest.substr(at + 1);
    std::string shown = without_secrets(address);
    std::ranges::replace_if(shown, is_control, '?');  // A message is one line.
    return std::string(scheme) + (at == rest.npos ? "" : "***@") + shown;
}

/// @param why Says what is wrong without quoting the URL, because it's uncertain which part is the
/// password.
[[noreturn]] void reject(std::string_view url, const std::string& why)
{
    throw std::invalid_argument("redlock: node URL '" + redacted(url) + "': " + why);
}

int hex_digit(char c) noexcept
{
    int value = -1;
    std::from_chars(&c, &c + 1, value, 16);
    return value;
}

/// Undoes percent-encoding.
std::string decoded(std::string_view text, std::string_view url)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        if (text[i] != '%')
        {
            result += text[i];
            continue;
        }
        const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            reject(url, "'%' is not followed by two hexadecimal digits");
        result += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return result;
}

void read_credentials(node_config& node, std::string_view userinfo, std::string_view url)
{
    const auto colon = userinfo.find(':');
    node.username = decoded(userinfo.substr(0, colon), url);
    if (colon != userinfo.npos)
        node.password = decoded(userinfo.substr(colon + 1), url);
}

template <class Number>
std::optional<Number> to_number(std::string_view text) noexcept
{
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The parts of a URL after its scheme, still percent-encoded.
struct url_parts
{
    std::string_view userinfo;
    std::string_view address;  ///< Host and port.
    std::string_view path;     ///< With its '/'.
    std::string_view rest;     ///< Query and fragment, with their '?' and '#'.
};

/** Splits a URL as RFC 3986 does: the authority ends at the first '/', '?' or '#', and the userinfo
    at the last '@' in it.

    OSSL_parse_url takes the first '@' and the first ':' anywhere, so a part of a password or path
    could become part of the host, which logs and diagnostics show.
*/
url_parts split(std::string_view url)
{
    const std::string_view rest = url.substr(scheme_of(url).name.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    const auto at = authority.rfind('@');

    url_parts parts;
    parts.path = rest.substr(authority.size());
    parts.path = parts.path.substr(0, parts.path.find_first_of("?#"));
    parts.rest = rest.substr(authority.size() + parts.path.size());
    parts.address = at == authority.npos ? authority : authority.substr(at + 1);
    parts.userinfo = at == authority.npos ? std::string_view() : authority.substr(0, at);
    return parts;
}

std::string_view trimmed(std::string_view text) noexcept
{
    const auto first = text.find_first_not_of(" \t\r\n");
    const auto last = text.find_last_not_of(" \t\r\n");
    return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

/// Decodes a host or path. A NUL would end it early in system calls.
std::string decoded_name(std::string_view text, std::string_view url)
{
    std::string name = decoded(text, url);
    if (std::ranges::any_of(name, is_control))
        reject(url, "the host or path contains a control character");
    return name;
}

/// A whole number with its unit, as in "15s".
std::optional<milliseconds> to_duration(std::string_view text) noexcept
{
    constexpr std::array<std::pair<std::string_view, milliseconds>, 3> units{{
        {"ms", std::chrono::milliseconds(1)},
        {"s", std::chrono::seconds(1)},
        {"min", std::chrono::minutes(1)},
    }};
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto count = to_number<std::uint32_t>(text.substr(0, digits));
    const auto unit =
        std::ranges::find(units, text.substr(digits), [](const auto& each) { return each.first; });
    if (!count || unit == units.end())
        return std::nullopt;
    return *count * unit->second;
}

void read_parameter(
    node_config& node,
    std::string_view name,
    std::string_view value,
    std::string_view url
)
{
    if (name == "overlap")
    {
        node.overlap = to_duration(value);
        if (!node.overlap)
            reject(url, "overlap must be a whole number with ms, s or min, as in overlap=15s");
    }
    else if (name == "ca" && node.tls)
    {
        node.tls->ca_file = decoded_name(value, url);
        if (node.tls->ca_file.empty())
            reject(url, "the path after ca= is missing");
    }
    else if (name == "sentinel_user" && node.sentinel)
        node.sentinel->username = decoded(value, url);
    else if (name == "sentinel_password" && node.sentinel)
        node.sentinel->password = decoded(value, url);
    else
        reject(url, query_rule);
}

void read_query(node_config& node, std::string_view query, std::string_view url)
{
    if (query.find('#') != query.npos)
        reject(url, query_rule);
    while (!query.empty())
    {
        query.remove_prefix(1);  // The '?' or '&'.
        const std::string_view parameter = query.substr(0, query.find('&'));
        query.remove_prefix(parameter.size());
        const auto equals = parameter.find('=');
        if (equals == parameter.npos)
            reject(url, query_rule);
        read_parameter(node, parameter.substr(0, equals), parameter.substr(equals + 1), url);
    }
}

/// Takes the host off the front of an address.
std::string take_host(std::string_view& address, std::string_view url)
{
    const bool brackets = address.starts_with('[');
    const auto end = address.find(brackets ? ']' : ':');
    if (brackets && end == address.npos)
        reject(url, "the ']' of the IPv6 address is missing");

    const std::string host = decoded_name(address.substr(0, end).substr(brackets ? 1 : 0), url);
    address = end == address.npos ? std::string_view() : address.substr(end + (brackets ? 1 : 0));
    if (host.empty())
        reject(url, "the host is missing");
    if (brackets != (host.find(':') != host.npos))
        reject(url, "write an IPv6 address, and nothing else, in brackets");
    if (host.find_first_of(" []@/;|") != host.npos)
        reject(url, "the host contains a character that isn't allowed");
    return host;
}

/// Reads what follows a host, if anything does.
void read_port(std::uint16_t& port, std::string_view text, std::string_view url)
{
    if (text.empty())
        return;
    const auto number = to_number<std::uint16_t>(text.substr(1));
    if (!text.starts_with(':') || !number || *number == 0)
        reject(url, "the port must be a number from 1 to 65535");
    port = *number;
}

unsigned to_database(std::string_view text, std::string_view url)
{
    const auto database = to_number<unsigned>(text);
    if (!database)
        reject(url, "the path must be a database number");
    return *database;
}

node_config parse_unix(std::string_view url)
{
    const url_parts parts = split(url);
    if (!parts.rest.empty())
        reject(url, query_rule);
    if (!parts.address.empty() || parts.path.empty())
    {
        reject(
            url,
            "the path of a unix socket must be absolute, as in unix:///run/redis.sock; "
            "percent-encode '/' in a password"
        );
    }

    node_config node;
    read_credentials(node, parts.userinfo, url);
    node.unix_socket = decoded_name(parts.path, url);
    return node;
}

/// A password that was not encoded may have ended the authority too early.
void reject_at_sign(const url_parts& parts, std::string_view url)
{
    const auto has_at = [](std::string_view text) { return text.find('@') != text.npos; };
    if (has_at(parts.path) || has_at(parts.rest))
        reject(url, "percent-encode '/', '?' and '#' in a user or password");
}

node_config parse_tcp(std::string_view url, bool tls)
{
    url_parts parts = split(url);
    reject_at_sign(parts, url);

    node_config node;
    if (tls)
        node.tls.emplace();
    read_query(node, parts.rest, url);
    read_credentials(node, parts.userinfo, url);
    node.host = take_host(parts.address, url);
    read_port(node.port, parts.address, url);
    if (parts.path.size() > 1)
        node.database = to_database(parts.path.substr(1), url);
    return node;
}

node_config parse_sentinel(std::string_view url, bool tls)
{
    url_parts parts = split(url);
    reject_at_sign(parts, url);
    node_config node;
    sentinel_config& by = node.sentinel.emplace();
    if (tls)
        node.tls.emplace();
    read_query(node, parts.rest, url);
    read_credentials(node, parts.userinfo, url);
    by.tls = node.tls;

    while (true)
    {
        const auto comma = parts.address.find(',');
        std::string_view address = trimmed(parts.address.substr(0, comma));
        sentinel_address& each = by.addresses.emplace_back();
        each.host = take_host(address, url);
        read_port(each.port, address, url);
        if (comma == parts.address.npos)
            break;
        parts.address.remove_prefix(comma + 1);
    }

    const std::string_view path = parts.path.substr(parts.path.empty() ? 0 : 1);
    const auto slash = path.find('/');
    by.master = decoded_name(path.substr(0, slash), url);
    if (by.master.empty())
        reject(url, "the master's name is missing; write redis+sentinel://host/mymaster");
    if (slash != path.npos)
        node.database = to_database(path.substr(slash + 1), url);
    return node;
}

std::string to_string(const std::string& host, std::uint16_t port)
{
    const bool v6 = host.find(':') != host.npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string join(const std::vector<sentinel_address>& addresses)
{
    std::string list;
    for (const sentinel_address& each : addresses)
        list += (list.empty() ? "" : ",") + to_string(each.host, each.port);
    return list;
}

/// Splits at commas, except those between Sentinels. A part without a scheme isn't shown, because
/// it may be the rest of a password.
std::vector<std::string_view> split_list(std::string_view urls)
{
    std::vector<std::string_view> parts;
    for (;;)
    {
        const std::string_view scheme = scheme_of(trimmed(urls)).sentinel ? "://" : "";
        const auto hosts = urls.find(scheme) + scheme.size();
        const auto comma = urls.find(',', scheme.empty() ? 0 : urls.find('/', hosts));
        parts.push_back(trimmed(urls.substr(0, comma)));
        const std::string which =
            "redlock: entry " + std::to_string(parts.size()) + " of the list of node URLs ";
        if (parts.back().empty())
            throw std::invalid_argument(which + "is empty");
        if (scheme_of(parts.back()).name.empty())
        {
            throw std::invalid_argument(
                which + "does not start with " + known_schemes + advice_on_scheme(parts.back()) +
                (parts.size() > 1 ? "; write ',' in a password as %2C" : "")
            );
        }
        if (comma == urls.npos)
            return parts;
        urls.remove_prefix(comma + 1);
    }
}

}  // namespace

std::string node_config::name() const
{
    if (sentinel)
        return sentinel->master + " of " + join(sentinel->addresses);
    if (!unix_socket.empty())
        return "unix:" + unix_socket;
    return to_string(host, port);
}

node_config parse_node(std::string_view url)
{
    const scheme by = scheme_of(url);
    if (by.name.empty())
        reject(url, std::string("it must start with ") + known_schemes + advice_on_scheme(url));
    if (holds_another(url))
        reject(url, "it contains another URL; separate the URLs of a list with commas");
    if (by.unix_socket)
        return parse_unix(url);
    return by.sentinel ? parse_sentinel(url, by.tls) : parse_tcp(url, by.tls);
}

std::vector<node_config> parse_nodes(std::string_view urls)
{
    std::vector<node_config> nodes;
    for (const std::string_view url : split_list(urls))
        nodes.push_back(parse_node(url));
    return nodes;
}

void log_to_stderr(log_level level, std::string_view line)
{
    if (level == log_level::info)
        return;
    // In one write, so that lines of several clients don't mix.
    const std::string text =
        std::string("redlock: ") + to_string(level) + ": " + std::string(line) + "\n";
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace redlock
