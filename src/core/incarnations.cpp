#include "core/incarnations.hpp"

#include <algorithm>
#include <utility>

namespace redlock::core {

namespace {

/// Former run ids that an entry remembers. A server that restarts more often loses the oldest.
constexpr std::size_t max_former = 64;

}  // namespace

bool incarnations::entry::was(const introduction& met) const
{
    return std::ranges::any_of(former, [&met](const std::string& each) {
        return each == met.run_id + met.replication_id || each == met.replication_id;
    });
}

void incarnations::entry::remember(std::string id)
{
    if (former.size() == max_former)
        former.erase(former.begin());
    former.push_back(std::move(id));
}

incarnations::finding incarnations::meet(std::size_t node, const introduction& met, time_point now)
{
    if (other_entry(node, met.run_id))
        return finding::same_server;

    entry& known = nodes_[node];
    // The uptime is a difference of whole seconds, so the server may have started this late. It
    // gets the benefit of the doubt.
    const time_point started = now - met.uptime + std::chrono::seconds(1);
    if (known.run_id != met.run_id || known.replication_id != met.replication_id)
    {
        if (known.was(met))
            return finding::returned;
        // An uptime depends on a wall clock, which may have been set after the start. So a server
        // that is alone for a while gets the benefit of the doubt.
        const bool is_first = known.run_id.empty();
        const bool is_failover = !met.replication_id.empty();
        if (!is_first && !is_failover && started < known.last_heard && now < overlaps_until(node))
            return finding::overlaps;
        if (!is_first)
            known.remember(known.run_id + known.replication_id);
        // A Sentinel that lags behind may lead to the new master first. If the old one were
        // accepted then, the new one would be refused for good.
        if (!met.predecessor.empty())
            known.remember(met.predecessor);
        known.run_id = met.run_id;
        known.replication_id = met.replication_id;
        known.was_admitted = false;
    }
    known.last_heard = now;
    return finding::fine;
}

std::optional<std::size_t> incarnations::other_entry(std::size_t node, const std::string& run_id)
    const noexcept
{
    for (std::size_t other = 0; other < nodes_.size(); ++other)
    {
        if (other != node && nodes_[other].run_id == run_id)
            return other;
    }
    return std::nullopt;
}

}  // namespace redlock::core
