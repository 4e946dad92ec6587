#include "chat_room/stage/stage.hpp"

#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"

namespace chat {

using namespace std::chrono_literals;
using redlock::test::read_file;

namespace {

/// Nodes may be slow to answer: this machine runs everything at once.
constexpr auto node_timeout = 300ms;

std::string join(const std::vector<std::string>& words)
{
    std::string all;
    for (const std::string& word : words)
        all += (all.empty() ? "" : ",") + word;
    return all;
}

std::vector<redlock::test::redis_server_options> five_nodes(std::vector<std::string> of_the_last)
{
    std::vector<redlock::test::redis_server_options> all(5);
    all.back().environment = std::move(of_the_last);
    return all;
}

/// The number after a name at the beginning of a line, 0 if there is no such line.
double number_after(const std::string& text, const std::string& name)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        std::istringstream words(line);
        std::string first;
        double value = 0;
        if (words >> first >> value && first == name)
            return value;
    }
    return 0;
}

}  // namespace

std::string server_process::url() const
{
    return "http://127.0.0.1:" + std::to_string(port());
}

bool server_process::is_stopped() const
{
    const std::string line = read_file("/proc/" + std::to_string(pid()) + "/stat");
    return line.find(") T ") != std::string::npos;
}

void server_process::ask_to_end() const
{
    if (pid() != 0)
        ::kill(pid(), SIGTERM);
}

std::string server_process::log() const
{
    return read_file(folder_.path() / "log");
}

std::string server_process::get(const std::string& path) const
{
    boost::asio::ip::tcp::iostream stream;
    stream.expires_after(2s);
    stream.connect("127.0.0.1", std::to_string(port()));
    stream << "GET " << path << " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n" << std::flush;
    const std::string answer(std::istreambuf_iterator<char>(stream), {});
    const std::size_t body = answer.find("\r\n\r\n");
    const bool good = answer.find(" 200 ") < answer.find("\r\n") && body != std::string::npos;
    return good ? answer.substr(body + 4) : "";
}

double server_process::measure(const std::string& name) const
{
    return number_after(get("/metrics"), name);
}

std::size_t server_process::memory() const
{
    const std::string status = read_file("/proc/" + std::to_string(pid()) + "/status");
    return static_cast<std::size_t>(number_after(status, "VmRSS:")) * 1024;
}

stage::stage(stage_options how)
    : nodes(five_nodes(how.environment)),
      store({.storage = redlock::test::redis_storage::every_write}),
      how_(std::move(how))
{
    if (how_.to_nodes == stage_options::road::through_proxy)
    {
        for (const redlock::test::redis_server& each : nodes)
            roads.emplace_back(each.port(), redlock::test::tcp_proxy::recording::off);
    }
    initialize_nodes();
    for (std::size_t index = 0; index < how_.servers; ++index)
    {
        server_process& next = servers_.emplace_back();
        next.name_ = "s" + std::to_string(index + 1);
        next.node_urls_ = node_urls();
    }
    for (server_process& each : servers_)
        start(each);
    for (const server_process& each : servers_)
    {
        if (!becomes_healthy(each))
            throw std::runtime_error("server " + each.name() + " is not healthy: " + each.log());
    }
}

server_process& stage::find(const std::string& name)
{
    const auto found = std::ranges::find(servers_, name, &server_process::name);
    if (found == servers_.end())
        throw std::runtime_error("there is no server '" + name + "'");
    return *found;
}

std::vector<std::uint16_t> stage::ports(std::size_t first) const
{
    std::vector<std::uint16_t> all;
    for (std::size_t index = 0; index < servers_.size(); ++index)
        all.push_back(servers_[(first + index) % servers_.size()].port());
    return all;
}

void stage::start(server_process& which)
{
    std::vector<std::string> words{
        "chat_server",
        "--name",
        which.name(),
        "--listen",
        "127.0.0.1:" + std::to_string(which.port()),
        "--nodes",
        which.node_urls_,
        "--store",
        store.url(),
        "--ttl",
        std::to_string(how_.ttl.count()),
        "--node-timeout",
        std::to_string(std::chrono::milliseconds(node_timeout).count()),
        "--stall-before-append",
        which.stall_file(),
    };
    if (const std::vector<std::string> peers = peers_of(which); !peers.empty())
        words.insert(words.end(), {"--peers", join(peers)});
    words.insert(words.end(), how_.more.begin(), how_.more.end());
    which.process_ = redlock::test::child_process(
        {REDLOCK_CHAT_SERVER, std::move(words), {}, which.folder_.path() / "log"}
    );
}

std::vector<std::string> stage::peers_of(const server_process& which) const
{
    std::vector<std::string> all;
    for (const server_process& each : servers_)
    {
        if (&each != &which)
            all.push_back(each.url());
    }
    return all;
}

std::string stage::node_urls() const
{
    if (roads.empty())
        return join(nodes.urls());
    std::vector<std::string> urls;
    for (const redlock::test::tcp_proxy& each : roads)
        urls.push_back(each.url());
    return join(urls);
}

void stage::initialize_nodes() const
{
    redlock::client_config config;
    config.nodes = redlock::parse_nodes(node_urls());
    config.node_timeout = 2s;
    boost::asio::io_context context;
    boost::system::error_code outcome;
    redlock::async_initialize_nodes(context, config, [&outcome](boost::system::error_code ec) {
        outcome = ec;
    });
    context.run();
    if (outcome)
        throw boost::system::system_error(outcome, "initializing the nodes");
}

bool becomes_healthy(const server_process& which, std::chrono::milliseconds limit)
{
    return redlock::test::eventually([&which] { return !which.get("/healthz").empty(); }, limit);
}

}  // namespace chat
