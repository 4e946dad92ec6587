#include <redlock/config.hpp>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/http.h>

#include <charconv>
#include <memory>
#include <stdexcept>

namespace redlock {

namespace {

/// Everything but the credentials, for error messages.
std::string redacted(std::string_view url)
{
    const auto scheme_end = url.find("://");
    const auto userinfo = scheme_end == url.npos ? 0 : scheme_end + 3;
    // The last '@' and not the first: a password that was not percent-encoded may contain one.
    const auto at = url.rfind('@');
    if (at == url.npos || at < userinfo)
        return std::string(url);
    return std::string(url.substr(0, userinfo)) + "***" + std::string(url.substr(at));
}

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
Number read_number(std::string_view text, const char* what, std::string_view url)
{
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        reject(url, std::string(what) + " '" + std::string(text) + "' is not a number in range");
    return value;
}

/// The parts of a URL, as OpenSSL takes it apart.
struct url_parts
{
    std::string user;
    std::string host;
    std::string port;
    std::string path;
    std::string query;
    std::string fragment;
};

url_parts split(std::string_view url)
{
    const auto take = [](char* text) {
        const std::unique_ptr<char, void (*)(char*)> owned(
            text, [](char* freed) { OPENSSL_free(freed); }
        );
        return std::string(text ? text : "");
    };
    char* user = nullptr;
    char* host = nullptr;
    char* port = nullptr;
    char* path = nullptr;
    char* query = nullptr;
    char* fragment = nullptr;
    int port_number = 0;
    const int done = ::OSSL_parse_url(
        std::string(url).c_str(), nullptr, &user, &host, &port, &port_number, &path, &query,
        &fragment
    );
    if (done != 1)
    {
        ::ERR_clear_error();
        reject(url, "not a URL of the form redis://[[user]:password@]host[:port][/database]");
    }
    return {take(user), take(host), take(port), take(path), take(query), take(fragment)};
}

node_config parse_unix(std::string_view rest, std::string_view url)
{
    node_config node;
    const auto at = rest.rfind('@');
    if (at != rest.npos)
        read_credentials(node, rest.substr(0, at), url);
    node.unix_socket = decoded(at == rest.npos ? rest : rest.substr(at + 1), url);
    if (!node.unix_socket.starts_with('/'))
        reject(url, "the path of a unix socket must be absolute, as in unix:///run/redis.sock");
    return node;
}

node_config parse_tcp(std::string_view url)
{
    const url_parts parts = split(url);
    if (parts.host.empty())
        reject(url, "the host is missing");
    if (!parts.query.empty() || !parts.fragment.empty())
        reject(url, "a query or fragment has no meaning here");

    node_config node;
    node.host = decoded(parts.host, url);
    read_credentials(node, parts.user, url);
    if (parts.port != "0" && !parts.port.empty())
        node.port = read_number<std::uint16_t>(parts.port, "port", url);
    if (parts.path.size() > 1)
    {
        const std::string_view database = std::string_view(parts.path).substr(1);
        node.database = read_number<unsigned>(database, "database", url);
    }
    return node;
}

std::string_view trimmed(std::string_view text) noexcept
{
    const auto first = text.find_first_not_of(" \t\r\n");
    const auto last = text.find_last_not_of(" \t\r\n");
    return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

}  // namespace

std::string node_config::name() const
{
    if (!unix_socket.empty())
        return "unix:" + unix_socket;
    const bool v6 = host.find(':') != host.npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

node_config parse_node(std::string_view url)
{
    if (url.starts_with("unix://"))
        return parse_unix(url.substr(7), url);
    if (url.starts_with("redis://"))
        return parse_tcp(url);
    if (url.starts_with("rediss://"))
    {
        node_config node = parse_tcp(url);
        node.tls.emplace();
        return node;
    }
    reject(url, "the scheme must be redis, rediss or unix");
}

std::vector<node_config> parse_nodes(std::string_view urls)
{
    std::vector<node_config> nodes;
    for (;;)
    {
        const auto comma = urls.find(',');
        const std::string_view url = trimmed(urls.substr(0, comma));
        if (url.empty())
            throw std::invalid_argument("redlock: an entry of the list of node URLs is empty");
        nodes.push_back(parse_node(url));
        if (comma == urls.npos)
            return nodes;
        urls.remove_prefix(comma + 1);
    }
}

}  // namespace redlock
