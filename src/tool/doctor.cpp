#include "tool/commands.hpp"
#include "tool/examination.hpp"
#include "tool/printing.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

/// What `redlock doctor` makes of the nodes together.
namespace redlock::tool {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

/// Reports a clock that differs from the median by more than the window.
void compare_clocks(std::vector<examination>& all, milliseconds window)
{
    std::vector<std::chrono::microseconds> clocks;
    for (const examination& each : all)
    {
        if (each.clock)
            clocks.push_back(*each.clock);
    }
    if (clocks.empty())
        return;
    std::ranges::sort(clocks);
    const auto median = clocks[(clocks.size() - 1) / 2];
    for (examination& each : all)
    {
        if (!each.clock)
            continue;
        *each.clock -= median;
        if (abs(*each.clock) <= window)
            continue;
        each.votes = false;
        each.problems.push_back(
            "its clock is " + in_words(std::chrono::duration_cast<milliseconds>(abs(*each.clock))) +
            (*each.clock > 0us ? " ahead of" : " behind") +
            " the others, so it doesn't vote. Set its clock and run a time service"
        );
    }
}

/// Reports two entries that lead to the same server.
void compare_servers(std::vector<examination>& all)
{
    std::map<std::string, std::string> known;
    for (examination& each : all)
    {
        if (!each.reached || each.run_id.empty())
            continue;
        const auto [first, is_new] = known.emplace(each.run_id, each.name);
        if (!is_new)
            each.problems.push_back(
                "it is the same server as " + first->second + ". List each server once"
            );
    }
}

std::string in_short(std::chrono::microseconds time)
{
    const auto tenths = std::chrono::round<std::chrono::duration<int, std::ratio<1, 10'000>>>(time);
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f ms", tenths.count() / 10.0);
    return tenths.count() == 0 ? "0.0 ms" : text;
}

/// Ends a sentence that may quote one.
const char* end_of(const std::string& text)
{
    return text.ends_with('?') || text.ends_with('.') ? "\n" : ".\n";
}

void print(const std::vector<examination>& all)
{
    std::vector<std::vector<std::string>> lines;
    for (const examination& each : all)
    {
        char took[32] = "-";
        if (each.reached)
            std::snprintf(
                took, sizeof took, "%.2f ms", static_cast<double>(each.round_trip.count()) / 1000
            );
        lines.push_back({
            each.name,
            each.problems.empty() ? "healthy"
            : each.reached        ? "problems"
                                  : "away",
            each.version,
            each.role,
            each.persistence,
            each.admission,
            each.clock ? in_short(*each.clock) : "-",
            took,
        });
    }
    print_table(
        {"NODE", "STATE", "VERSION", "ROLE", "PERSISTENCE", "ADMISSION", "CLOCK", "ROUND TRIP"},
        lines
    );
    for (const examination& each : all)
    {
        for (const std::string& problem : each.problems)
            std::cout << each.name << ": " << problem << end_of(problem);
    }
    for (const examination& each : all)
    {
        for (const std::string& remark : each.remarks)
            std::cout << "note: " << each.name << ": " << remark << end_of(remark);
    }
    if (::getpid() == 1)
        std::cout << "note: redlock is process 1 here. For run and lead, let an init be that "
                     "(docker run --init), because they don't reap what commands leave behind.\n";
}

boost::json::array as_list(const std::vector<std::string>& texts)
{
    boost::json::array made;
    for (const std::string& each : texts)
        made.push_back(boost::json::string(in_utf8(each)));
    return made;
}

void print_json(const std::vector<examination>& all, const std::string& verdict, bool healthy)
{
    boost::json::array nodes;
    for (const examination& each : all)
    {
        boost::json::object node;
        node["node"] = each.name;
        node["reached"] = each.reached;
        node["version"] = each.version;
        node["role"] = each.role;
        node["persistence"] = each.persistence;
        node["admission"] = each.admission;
        if (each.clock)
            node["clock_us"] = each.clock->count();
        node["round_trip_us"] = each.round_trip.count();
        node["problems"] = as_list(each.problems);
        node["remarks"] = as_list(each.remarks);
        nodes.push_back(std::move(node));
    }
    boost::json::object made;
    made["healthy"] = healthy;
    made["verdict"] = verdict;
    made["nodes"] = std::move(nodes);
    std::cout << boost::json::serialize(made) << '\n';
}

std::string verdict_on(const std::vector<examination>& all)
{
    const auto healthy =
        static_cast<std::size_t>(std::ranges::count(all, true, &examination::votes));
    const std::size_t quorum = all.size() / 2 + 1;
    const std::string verdict = std::to_string(healthy) + " of " + std::to_string(all.size()) +
                                " nodes can vote, and " + std::to_string(quorum) +
                                (quorum == 1 ? " is needed: " : " are needed: ");
    if (healthy < quorum)
        return verdict + "nothing can be locked.";
    if (all.size() == 1)
        return verdict + "locking works but stops with this node. Three survive the loss of one.";
    if (healthy == quorum)
        return verdict + "locking works, with none to spare.";
    const bool is_well =
        std::ranges::all_of(all, [](const auto& each) { return each.problems.empty(); });
    return verdict + (is_well ? "all is well." : "locking works.");
}

}  // namespace

int doctor(const options& given)
{
    const client_config config = make_config(given.nodes);
    const detail::guard guarded = *detail::make_guard(config);
    const auto tls = detail::make_tls_sources(config.nodes);
    asio::io_context context{1};
    const detail::ground on = detail::make_ground(context.get_executor());
    std::vector<examination> all(config.nodes.size());
    std::vector<std::shared_ptr<detail::sentinel_group>> sentinels;
    for (const node_config& each : config.nodes)
        sentinels.push_back(detail::make_sentinel_group(each));
    const std::function<void(std::size_t)> look_at = [&](std::size_t i) {
        inquire(
            on,
            config.nodes[i],
            tls[i] ? tls[i]->latest() : nullptr,
            sentinels[i],
            make_inquiry(config.nodes[i], guarded),
            [&, i](const answers& told) {
                all[i] = examine(config.nodes[i], guarded, told);
                const bool is_wrong = !all[i].reached || all[i].role != "master";
                // One Sentinel may be behind the others.
                if (is_wrong && sentinels[i] && sentinels[i]->may_lead_elsewhere())
                    look_at(i);
            }
        );
    };
    for (std::size_t i = 0; i < all.size(); ++i)
        detail::enter_later(on.strand, [&look_at, i]() { look_at(i); });
    context.run();
    compare_clocks(all, config.clock_window);
    compare_servers(all);
    const bool healthy =
        std::ranges::all_of(all, [](const auto& each) { return each.problems.empty(); });
    const std::string verdict = verdict_on(all);
    if (given.nodes.json)
        print_json(all, verdict, healthy);
    else
    {
        print(all);
        std::cout << verdict << '\n';
    }
    return healthy ? 0 : static_cast<int>(status::no);
}

}  // namespace redlock::tool
