#include "core/views.hpp"

#include "core/hold_value.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::core {

namespace {

/// What the nodes say about one holder.
struct candidate
{
    hold_value said;  ///< With the latest note.
    bool revoked = false;
    std::vector<milliseconds> remaining;
};

using candidates = std::map<std::string_view, candidate>;

void count(candidates& among, const node_view& told)
{
    hold_value said = read_hold_value(told.value);
    candidate& holder = among[said.id];
    if (holder.remaining.empty() || said.stamp > holder.said.stamp)
        holder.said = said;
    holder.revoked = holder.revoked || said.revoked;
    holder.remaining.push_back(told.remaining);
}

void leave_out_wrong_clocks(std::vector<node_view>& of, std::size_t quorum, milliseconds window)
{
    const auto agree = [window](const node_view& one, const node_view& other) {
        return !one.clock || !other.clock || abs(*one.clock - *other.clock) <= window;
    };
    const std::vector<node_view> all = of;
    std::erase_if(of, [&](const node_view& each) {
        const auto together =
            std::ranges::count_if(all, [&](const node_view& other) { return agree(each, other); });
        return static_cast<std::size_t>(together) < quorum && all.size() >= quorum;
    });
}

/// For a holder that has a quorum.
void show_holder(joint_view& in, candidate holder, std::size_t quorum)
{
    // Keys that expire first don't matter until the last one that the quorum needs expires.
    std::ranges::sort(holder.remaining, std::greater());
    in.holder = holder.said.id;
    redlock::holding& shown = in.shown;
    shown.state = holder.said.kept ? holding_state::kept : holding_state::held;
    shown.note = holder.said.note;
    shown.token = holder.said.token;
    shown.revoked = holder.revoked;
    shown.remaining = holder.remaining[quorum - 1];
    in.stamp = holder.said.stamp;
    in.next_expiry = shown.remaining;
    if (shown.token)
    {
        const auto since = static_cast<std::chrono::microseconds::rep>(shown.token.value());
        shown.since = std::chrono::system_clock::time_point(std::chrono::microseconds(since));
    }
}

}  // namespace

joint_view join_views(std::vector<node_view> told, electorate nodes, milliseconds clock_window)
{
    const std::size_t quorum = nodes.quorum();
    leave_out_wrong_clocks(told, quorum, clock_window);
    joint_view made;
    redlock::holding& shown = made.shown;
    shown.answered = told.size();
    candidates holders;
    std::size_t without_key = 0;
    for (const node_view& each : told)
    {
        shown.waiting = std::max(shown.waiting, each.waiting);
        if (each.remaining > milliseconds(0))
        {
            count(holders, each);
            made.next_expiry = std::min(made.next_expiry, each.remaining);
        }
        else
        {
            ++without_key;
        }
    }
    shown.agree = without_key;
    candidate* most = nullptr;
    for (auto& [id, each] : holders)
    {
        if (!most || each.remaining.size() > most->remaining.size())
            most = &each;
    }
    if (most && most->remaining.size() >= quorum)
    {
        shown.agree = most->remaining.size();
        show_holder(made, std::move(*most), quorum);
    }
    else if (without_key > nodes.spare())
        shown.state = holding_state::free;
    else if (most)
        shown.agree = std::max(shown.agree, most->remaining.size());
    return made;
}

}  // namespace redlock::core
