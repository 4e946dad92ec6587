#include "chat_room/pages.hpp"

#include <redlock/client.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace chat {

namespace {

constexpr std::array content_types{
    std::pair{".html", "text/html; charset=utf-8"},
    std::pair{".css", "text/css; charset=utf-8"},
    std::pair{".js", "text/javascript; charset=utf-8"},
    std::pair{".svg", "image/svg+xml"},
    std::pair{".png", "image/png"},
    std::pair{".ico", "image/x-icon"},
    std::pair{".webmanifest", "application/manifest+json"},
};

/// Empty: not a kind of file that a page has.
std::string content_type(const std::filesystem::path& file)
{
    const auto found =
        std::ranges::find(content_types, file.extension().string(), [](const auto& pair) {
            return std::string(pair.first);
        });
    return found == content_types.end() ? "" : found->second;
}

/// Without a slash, and without a dot in front: it stays within its directory.
bool is_file_name(std::string_view name)
{
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_.").find(c) != std::string_view::npos;
    });
}

std::optional<std::string> read_file(const std::filesystem::path& file)
{
    std::ifstream input(file, std::ios::binary);
    if (!input)
        return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(input), {});
}

std::size_t ready_nodes(const surroundings& with)
{
    const auto nodes = with.locks.nodes();
    return static_cast<std::size_t>(
        std::ranges::count(nodes, redlock::node_state::ready, &redlock::node_status::state)
    );
}

}  // namespace

page_answer page_file(const std::filesystem::path& from, std::string_view path)
{
    const std::string name(path == "/" ? "index.html" : path.substr(path.empty() ? 0 : 1));
    const std::string type = content_type(name);
    if (is_file_name(name) && !type.empty())
    {
        if (auto body = read_file(from / name))
            return {200, type, std::move(*body)};
    }
    return {404, plain_text, "there is no such page\n"};
}

page_answer health(const surroundings& with)
{
    const std::size_t ready = ready_nodes(with);
    const bool quorum = ready > with.how.nodes.size() / 2;
    const bool healthy = quorum && with.data.is_up();
    const boost::json::object body{
        {"server", with.how.name},
        {"store", with.data.is_up() ? "up" : "down"},
        {"nodes_ready", ready},
        {"nodes", with.how.nodes.size()},
    };
    return {healthy ? 200U : 503U, "application/json", boost::json::serialize(body) + "\n"};
}

std::string measurements(const surroundings& with)
{
    with.counts.nodes_ready.Set(static_cast<double>(ready_nodes(with)));
    with.counts.store_up.Set(with.data.is_up() ? 1 : 0);
    return with.counts.to_text();
}

}  // namespace chat
