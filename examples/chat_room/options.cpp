#include "chat_room/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace chat {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(std::string_view value, const char* why)
{
    throw std::invalid_argument("'" + std::string(value) + "' " + why);
}

/// HOST:PORT, where an IPv6 address is in brackets.
void read_listen(options& to, std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0)
        reject(text, "must be ADDRESS:PORT");
    std::string_view host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), to.port);
    if (failure != std::errc() || end != port.data() + port.size())
        reject(text, "the port must be 0 to 65535");
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    to.address = host;
}

void check_name(const std::string& name)
{
    const bool plain = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_.").find(c) != std::string_view::npos;
    });
    if (name.empty() || name.size() > 32 || !plain)
        reject(name, "must be 1 to 32 of letters, digits and -_.");
}

void check_page(const fs::path& page)
{
    if (!fs::is_directory(page))
        reject(page.native(), "is not a directory");
}

void check_origin(const std::string& origin)
{
    const bool known = origin.starts_with("http://") || origin.starts_with("https://");
    if (!known || origin.find('/', origin.find("//") + 2) != std::string::npos)
        reject(origin, "must be http://HOST[:PORT] or https://HOST[:PORT]");
    // It goes into a header that lists what the page may connect to.
    if (origin.find_first_of(" \t;,'\"*") != std::string::npos)
        reject(origin, "must be one address, without quotes and '*'");
}

void check_host(const std::string& host)
{
    const bool plain = std::ranges::all_of(host, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
    if (host.empty() || !plain)
        reject(host, "must be a host name in lowercase, without a port");
}

void check_copied(const std::string& room)
{
    const bool plain = std::ranges::all_of(room, [](char c) { return c >= 'a' && c <= 'z'; });
    if (room.empty() || room.size() > 16 || !plain)
        reject(room, "must be 1 to 16 lowercase letters");
}

/// The controls of the demo stop and kill processes: nobody else must reach them.
void check_controls(const std::string& url)
{
    options scratch;
    constexpr std::string_view begin = "ws://";
    if (!url.starts_with(begin))
        reject(url, "must be ws://127.0.0.1:PORT");
    read_listen(scratch, std::string_view(url).substr(begin.size()));
    if (scratch.address != "127.0.0.1")
        reject(url, "must be ws://127.0.0.1:PORT");
}

/// Turns a check that throws into one for CLI11. What is thrown names the value.
template <class Check>
CLI::Validator checked(Check check)
{
    return CLI::Validator(
        [check](const std::string& text) -> std::string {
            try
            {
                check(text);
                return {};
            }
            catch (const std::exception& failure)
            {
                return failure.what();
            }
        },
        std::string()
    );
}

/// Options read as text first, because our checks have better messages than a conversion.
struct texts
{
    std::string listen = "127.0.0.1:8080";
    std::string nodes;
    std::string store;
    std::string page = REDLOCK_CHAT_PAGE;
    std::int64_t ttl = 3000;
    std::int64_t node_timeout = 200;
};

void add_addresses(CLI::App& app, options& to, texts& read)
{
    app.add_option("--listen", read.listen, "address and port; port 0: any free port")
        ->check(checked([](const std::string& text) {
            options scratch;
            read_listen(scratch, text);
        }))
        ->capture_default_str()
        ->type_name("ADDRESS:PORT");
    app.add_option("--name", to.name, "of this server, unique among all servers")
        ->check(checked(check_name))
        ->required()
        ->type_name("NAME");
    app.add_option("--nodes", read.nodes, "the lock nodes, the same for all servers")
        ->check(checked([](const std::string& text) { (void)redlock::parse_nodes(text); }))
        ->required()
        ->type_name("URL,URL,...");
    app.add_option("--store", read.store, "the data store, a Redis that isn't a lock node")
        ->check(checked([](const std::string& text) { (void)redlock::parse_node(text); }))
        ->required()
        ->type_name("URL");
    app.add_option("--page", read.page, "directory with the page")
        ->check(checked(check_page))
        ->capture_default_str()
        ->type_name("DIRECTORY");
    app.add_option("--allow-origin", to.allowed_origins, "another site that may use the WebSocket")
        ->check(checked(check_origin))
        ->type_name("URL");
    app.add_option("--allow-host", to.allowed_hosts, "a name that browsers use for this server")
        ->check(checked(check_host))
        ->type_name("HOST");
    app.add_option("--peers", to.peers, "where browsers reach the other servers")
        ->check(checked(check_origin))
        ->delimiter(',')
        ->type_name("URL,URL,...");
}

void add_limits(CLI::App& app, options& to, texts& read)
{
    app.add_option("--ttl", read.ttl, "how long a coordinator's lease lives, in ms")
        ->check(CLI::Range(500, 30'000))
        ->capture_default_str();
    app.add_option("--node-timeout", read.node_timeout, "how long to wait for a node, in ms")
        ->check(CLI::Range(1, 400))
        ->capture_default_str();
    app.add_option("--rate", to.rate.per_second, "messages per second of a connection")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--burst", to.rate.burst, "messages of a connection at once")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--max-rooms", to.max_rooms, "rooms with members on this server")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--max-members", to.max_members, "members on this server")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--history", to.history, "messages that a room keeps, the same for all servers")
        ->check(CLI::Range(100, 1'000'000))
        ->capture_default_str();
    app.add_option(
           "--stall-before-append",
           to.stall_before_append,
           "for tests: once this file exists, delete it and stop (SIGSTOP) between the check of "
           "the lease and the next append"
    )
        ->type_name("FILE");
}

void add_demo(CLI::App& app, options& to)
{
    app.add_option(
           "--unfenced",
           to.unfenced,
           "for the demo: give this room a copy, ROOM-without-fence, whose writes nothing checks"
    )
        ->check(checked(check_copied))
        ->type_name("ROOM");
    app.add_option("--controls", to.controls, "for the demo: where the page finds its controls")
        ->check(checked(check_controls))
        ->type_name("ws://127.0.0.1:PORT");
}

}  // namespace

parsed_options parse_options(int argc, char** argv)
{
    options result;
    texts read;
    CLI::App app("One server of a chat. Start several: each room has one coordinator among them.");
    app.name("chat_server");
    add_addresses(app, result, read);
    add_limits(app, result, read);
    add_demo(app, result);
    try
    {
        app.parse(argc, argv);
        result.nodes = redlock::parse_nodes(read.nodes);
        result.store = redlock::parse_node(read.store);
        if (result.store.tls)
            throw CLI::ValidationError("--store", "TLS to the store is not built in");
        read_listen(result, read.listen);
        if (!result.controls.empty() && result.address != "127.0.0.1")
            throw CLI::ValidationError("--controls", "needs a --listen on 127.0.0.1");
    }
    catch (const CLI::ParseError& error)
    {
        return {std::nullopt, app.exit(error) == 0 ? 0 : 2};
    }
    result.page = read.page;
    result.ttl = redlock::milliseconds(read.ttl);
    result.node_timeout = redlock::milliseconds(read.node_timeout);
    return {std::move(result), 0};
}

}  // namespace chat
