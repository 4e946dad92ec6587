#include "chaos/failover_run.hpp"

#include "core/overlap.hpp"
#include "core/quarantine.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "chaos/crew.hpp"
#include "chaos/fenced_store.hpp"
#include "chaos/worker_options.hpp"
#include "support/eventually.hpp"
#include "support/redis_group.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

constexpr milliseconds ttl_max = 2s;
constexpr unsigned max_lag = 1;

/// A master that is down for so long is one that nobody waits for.
milliseconds down_time(sentinel_pace pace)
{
    return pace == sentinel_pace::hurried ? 2s : 4s;
}

/// Until there has to be a grant again.
constexpr std::chrono::seconds patience = 90s;

/// How to make a group fail over, and what that needs afterwards.
struct way
{
    const char* kind;
    void (*begin)(redis_group& group, std::size_t master);
    void (*end)(redis_group& group, std::size_t master);
};

constexpr way ways[] = {
    {"command",
     [](redis_group& group, std::size_t) {
         const auto done = [&] {
             return group.ask_sentinel(0, {"SENTINEL", "FAILOVER", redis_group::name}) == "OK";
         };
         if (!eventually(done, 30s))
             throw std::runtime_error("the Sentinel does not fail over");
     },
     [](redis_group&, std::size_t) {}},
    {"kill",
     [](redis_group& group, std::size_t master) { group.member(master).kill(); },
     [](redis_group& group, std::size_t master) { group.member(master).start(); }},
    {"freeze",
     [](redis_group& group, std::size_t master) { group.member(master).pause(); },
     [](redis_group& group, std::size_t master) { group.member(master).resume(); }},
    {"cut",
     [](redis_group& group, std::size_t master) { group.cut_off(master); },
     [](redis_group& group, std::size_t master) { group.reconnect(master); }},
};

/// The way back is open as soon as the other one is the master.
void hand_over_and_back(redis_group& group, std::size_t master)
{
    const std::size_t other = (master + 1) % group.size();
    group.hand_over(master, other);
    group.hand_over(other, master);
}

void fail_over(redis_group& group, const failover_settings& settings)
{
    const std::size_t master = group.master();
    if (settings.kind == "there and back")
        return hand_over_and_back(group, master);
    const auto* const found = std::ranges::find(ways, settings.kind, &way::kind);
    if (found == std::end(ways))
        throw std::invalid_argument("there is no kind '" + settings.kind + "'");
    found->begin(group, master);
    const bool moved = group.moves_from(master, 30s);
    static_cast<void>(eventually([] { return false; }, down_time(settings.pace)));
    found->end(group, master);
    if (!moved)
        throw std::runtime_error("the Sentinels do not move the master");
}

worker_options work_on(const std::deque<redis_group>& groups, const failover_settings& settings)
{
    worker_options work;
    for (const redis_group& each : groups)
    {
        work.nodes += (work.nodes.empty() ? "" : ",") + each.url();
        if (settings.overlap != 0)
            work.nodes += "?overlap=" + std::to_string(settings.overlap) + "ms";
    }
    work.how.mode = "guarded";
    work.how.ttl_max = ttl_max;
    work.resources = 1;
    work.ttl = 2s;
    work.node_timeout = 500ms;
    work.wait = 1s;
    work.hold = 5ms;
    work.long_hold = 1'500ms;
    work.one_long_of = 16;
    work.extends = true;
    return work;
}

/// The longest time without a grant that ends after each of these moments.
std::vector<milliseconds> pauses_of(const history& all, const std::vector<moment>& failovers)
{
    std::vector<moment> grants;
    for (const operation& each : granted(all))
        grants.push_back(each.returned);
    std::ranges::sort(grants);
    std::vector<milliseconds> pauses(failovers.size());
    for (std::size_t at = 1; at < grants.size(); ++at)
    {
        const auto after = std::ranges::upper_bound(failovers, grants[at]) - failovers.begin();
        if (after == 0)
            continue;
        milliseconds& longest = pauses[static_cast<std::size_t>(after - 1)];
        const auto pause = std::chrono::ceil<milliseconds>(grants[at] - grants[at - 1]);
        longest = std::max(longest, pause);
    }
    return pauses;
}

}  // namespace

milliseconds bound_of(const failover_settings& settings)
{
    const milliseconds overlap = settings.overlap != 0
                                     ? milliseconds(settings.overlap)
                                     : core::overlap_after(std::chrono::seconds(max_lag));
    // Sentinels turn an old master that is back into a replica after ten seconds, or two, and look
    // once a second. It must be one before a new master writes that waits for all.
    const milliseconds patience_of_sentinels = settings.pace == sentinel_pace::hurried ? 6s : 14s;
    const milliseconds until_replica =
        settings.min_replicas >= settings.replicas ? patience_of_sentinels : 2s;
    constexpr milliseconds detection = 2s;
    constexpr milliseconds reconnection = 2s;
    return detection + down_time(settings.pace) + until_replica + reconnection + overlap +
           core::quarantine_for(ttl_max, 500ms);
}

failover_report run_failovers(const failover_settings& settings)
{
    failover_report report;
    report.settings = settings;
    std::deque<redis_group> groups;
    for (std::uint32_t index = 0; index < settings.groups; ++index)
    {
        groups.emplace_back(redis_group_options{
            .replicas = settings.replicas,
            .min_replicas = settings.min_replicas,
            .max_lag = max_lag,
            .pace = settings.pace,
        });
    }
    redis_server store;
    crew workers;
    worker_options work = work_on(groups, settings);
    work.store = store.port();
    for (std::uint32_t index = 0; index < settings.workers; ++index)
        workers.hire(work);
    report.live = workers.reaches(settings.workers, patience);

    std::vector<moment> begun;
    while (report.live && begun.size() < settings.failovers)
    {
        redis_group& group = groups[begun.size() % groups.size()];
        begun.push_back(boot_clock::now());
        fail_over(group, settings);
        if (!group.settles(60s))
            throw std::runtime_error("the group does not settle after a failover");
        report.live = workers.each_makes(2, patience);
        std::cout << "." << std::flush;
    }
    std::cout << std::endl;

    workers.kill();
    report.all = workers.read();
    report.all.store = fenced_store::entries(store.client(), 1);
    report.output = workers.output();
    report.violations = check(report.all, tokens::increasing);
    report.pauses = pauses_of(report.all, begun);
    return report;
}

std::string describe(const failover_report& report)
{
    const failover_settings& how = report.settings;
    std::vector<milliseconds> sorted = report.pauses;
    std::ranges::sort(sorted);
    std::map<std::string, std::size_t> broken;
    for (const violation& each : report.violations)
        ++broken[to_string(each.what)];
    std::ostringstream out;
    out << how.kind << ": " << report.pauses.size() << " failovers, " << how.groups
        << " groups with " << how.replicas << " replicas, min-replicas-to-write "
        << how.min_replicas << ", overlap "
        << (how.overlap == 0 ? "derived" : std::to_string(how.overlap) + " ms") << ": "
        << granted(report.all).size() << " grants, " << report.all.store.size() << " writes, "
        << report.violations.size() << " violations";
    for (const auto& [what, count] : broken)
        out << ", " << count << " " << what;
    if (!sorted.empty())
    {
        out << "; without locks " << sorted[sorted.size() / 2].count() << " ms (median), "
            << sorted.back().count() << " ms (longest), bound " << bound_of(how).count() << " ms";
    }
    out << (report.live ? "\n" : ", NOT LIVE\n") << report.output;
    out << describe(report.violations, report.all);
    return out.str();
}

}  // namespace redlock::test
