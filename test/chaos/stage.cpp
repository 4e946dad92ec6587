#include "chaos/stage.hpp"

#include <chrono>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "chaos/fenced_store.hpp"
#include "chaos/mode.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

constexpr const char* marker_key = "redlock:marker";
constexpr const char* quarantine_key = "redlock:quarantine";

/// Asks until there is an answer: a machine may stand still for longer than a deadline.
template <class F>
auto insist(const std::string& whom, F ask)
{
    for (int attempts_left = 4;; --attempts_left)
    {
        try
        {
            return ask();
        }
        catch (const std::system_error& failure)
        {
            if (attempts_left == 0)
                throw std::runtime_error(whom + ": " + failure.what());
        }
    }
}

}  // namespace

stage::stage(stage_options options) : options_(std::move(options))
{
    for (const redis_storage storage : options_.storage)
    {
        wall_clock& clock = clocks_.emplace_back();
        clock.set_lead((clocks_.size() - 1) * options_.spread);
        redis_server_options how{.storage = storage, .environment = clock.environment()};
        how.extra = {"--lua-time-limit", "20", "--repl-diskless-sync-delay", "0"};
        nodes_.emplace_back(how);
    }
    if (options_.fenced)
        options_.work.store = store_.emplace_back().port();
    make_ready();
    for (std::size_t worker = 0; worker < options_.workers; ++worker)
    {
        if (options_.proxies)
        {
            for (const redis_server& node : nodes_)
                links_.emplace_back(node.port(), tcp_proxy::recording::off);
        }
        worker_options work = options_.work;
        work.nodes = urls(worker);
        work.polls = worker < options_.polling;
        workers_.hire(work);
    }
    if (options_.kept > 0)
        hire_keepers();
}

void stage::hire_keepers()
{
    worker_options work = options_.work;
    work.nodes = urls_of_nodes();
    work.store = 0;
    work.first_resource = first_kept();
    work.resources = options_.kept;
    work.tasks = options_.kept;
    work.ttl = work.how.ttl_max;
    work.grace = milliseconds(0);
    work.at_least = milliseconds(0);
    work.revokes = false;
    work.keeps = true;
    for (const bool polls : {false, true})
    {
        work.polls = polls;
        keepers_.hire(work);
    }
}

std::uint32_t stage::first_kept() const noexcept
{
    return options_.work.first_resource + options_.work.resources;
}

tcp_proxy& stage::link(std::size_t worker, std::size_t node)
{
    return links_.at(worker * nodes_.size() + node);
}

redis_server& stage::empty_server()
{
    if (empty_.empty())
        empty_.emplace_back(redis_server_options{.extra = {"--repl-diskless-sync-delay", "0"}});
    return empty_.front();
}

void stage::bring_back(std::size_t index)
{
    redis_server& node = nodes_.at(index);
    node.start();
    if (options_.guard == restart_guard::on)
        return;
    node.command({"SET", marker_key, fingerprint_ + info_field(node, "run_id")});
    node.command({"DEL", quarantine_key});
}

bool stage::is_admitted(std::size_t index)
{
    redis_server& node = nodes_.at(index);
    if (node.has_ended() || node.is_paused())  // By another fault, which only we end.
        return false;
    const std::string marker = command(index, {"GET", marker_key});
    const std::string run_id = insist("INFO", [&] { return info_field(node, "run_id"); });
    return marker.find(run_id) != std::string::npos &&
           command(index, {"EXISTS", quarantine_key}) == "(integer) 0";
}

bool stage::all_nodes_have_what_is_kept()
{
    for (std::size_t node = 0; node < node_count(); ++node)
    {
        if (!is_admitted(node))
            return false;
    }
    for (std::uint32_t number = 0; number < options_.kept; ++number)
    {
        std::set<std::string> ids;
        for (std::size_t node = 0; node < node_count(); ++node)
        {
            const std::string value = command(node, {"GET", resource_name(first_kept() + number)});
            ids.insert(value.substr(0, value.find(' ')));
        }
        if (ids.size() != 1 || ids.contains("(nil)"))
            return false;
    }
    return true;
}

std::string stage::command(std::size_t index, const std::vector<std::string>& words)
{
    const std::string what = "node " + std::to_string(index) + ", " + words.front();
    return insist(what, [&] { return nodes_.at(index).command(words); });
}

history stage::read()
{
    std::vector<child_process*> stopped;
    for (crew* const each : {&workers_, &keepers_})
    {
        for (std::size_t index = 0; index < each->size(); ++index)
        {
            child_process& worker = each->process(index);
            if (worker.has_ended() || worker.is_paused())
                continue;
            worker.pause();
            stopped.push_back(&worker);
        }
    }
    history all = workers_.read();
    keepers_.read_into(all);
    if (options_.fenced)
    {
        const worker_options& work = options_.work;
        const std::uint32_t count = work.first_resource + work.resources;
        all.store = insist("the store", [&] {
            return fenced_store::entries(store_.front().client(), count);
        });
    }
    for (child_process* const each : stopped)
        each->resume();
    return all;
}

std::string stage::urls(std::size_t worker) const
{
    if (!options_.proxies)
        return urls_of_nodes();
    std::string all;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        all += (all.empty() ? "" : ",") + links_[worker * nodes_.size() + node].url();
    return all;
}

std::string stage::urls_of_nodes() const
{
    std::string all;
    for (const redis_server& node : nodes_)
        all += (all.empty() ? "" : ",") + node.url();
    return all;
}

void stage::make_ready()
{
    client_config config;
    for (const redis_server& node : nodes_)
        config.nodes.push_back(parse_node(node.url()));
    config.node_timeout = 500ms;
    protect(config, options_.work.how);
    initialize_nodes(config);
    if (config.mode == mode::plain)
        return;
    const std::string marker = nodes_.front().command({"GET", marker_key});
    fingerprint_ = marker.substr(0, marker.rfind(';') + 1);
}

std::string info_field(const redis_server& node, const std::string& name)
{
    const std::string info = node.command({"INFO", "server"});
    const std::size_t begin = info.find(name + ':') + name.size() + 1;
    return info.substr(begin, info.find('\r', begin) - begin);
}

}  // namespace redlock::test
