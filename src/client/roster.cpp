#include "client/roster.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace redlock::detail {

roster::roster(node_list nodes) : nodes_(std::move(nodes))
{
    for (const auto& each : nodes_)
        status_.push_back(each->status());
}

std::size_t roster::ready() const
{
    return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& each) {
        return each->status().state == node_state::ready;
    }));
}

core::nanoseconds roster::distance() const noexcept
{
    std::array<core::nanoseconds, core::max_nodes> known{};
    const auto end = std::ranges::transform(nodes_, known.begin(), [](const auto& each) {
                         return each->shortest_round_trip();
                     }).out;
    const auto farthest = known.begin() + static_cast<std::ptrdiff_t>(voters().quorum() - 1);
    std::nth_element(known.begin(), farthest, end);
    return *farthest == core::nanoseconds::max() ? core::nanoseconds(0) : *farthest;
}

bool roster::any_untried(time_point now) const
{
    return now < chance_ends_ &&
           std::ranges::any_of(
               nodes_,
               [](const auto& each) { return each->status().state == node_state::connecting; }
           );
}

bool roster::owes_release() const
{
    return std::ranges::any_of(nodes_, [](const auto& each) { return each->owed_releases() > 0; });
}

void roster::start(std::weak_ptr<node::owner> told, time_point chance_ends)
{
    owner_ = std::move(told);
    chance_ends_ = chance_ends;
    sessions_ = size();
    for (const auto& each : nodes_)
        each->start(owner_);
}

void roster::stop() noexcept
{
    for (const auto& each : nodes_)
        each->stop();
}

roster::changes roster::take_changes()
{
    changes changed;
    for (std::size_t index = 0; index < size(); ++index)
    {
        const node_status now = nodes_[index]->status();
        node_status& known = status_[index];  // Written here only.
        if (known.state == now.state && known.reason == now.reason &&
            known.because == now.because && known.refuses == now.refuses)
            continue;
        if (now.state == node_state::ready && known.state != now.state)
        {
            ++connections_;
            changed.ready.set(index);
        }
        changed.all.push_back(now);
        const std::lock_guard lock(mutex_);
        known = now;
    }
    return changed;
}

std::vector<node_status> roster::status() const
{
    std::vector<node_status> result;
    {
        const std::lock_guard lock(mutex_);
        result = status_;
    }
    for (std::size_t index = 0; index < size(); ++index)
        result[index].round_trip = nodes_[index]->round_trip();
    return result;
}

}  // namespace redlock::detail
