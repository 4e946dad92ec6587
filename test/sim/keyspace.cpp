#include "sim/keyspace.hpp"

#include <algorithm>
#include <utility>

namespace redlock::sim {

std::size_t sorted_set::rank(std::string_view name) const
{
    const auto found = std::ranges::find(members_, name, &member::name);
    return static_cast<std::size_t>(found - members_.begin());
}

void sorted_set::insert(member added)
{
    const auto place = std::ranges::upper_bound(members_, added);
    members_.insert(place, std::move(added));
}

void sorted_set::erase(std::size_t rank)
{
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(rank));
}

entry* keyspace::find(std::string_view key, std::int64_t now)
{
    const auto found = keys_.find(key);
    return found == keys_.end() || found->second.expired(now) ? nullptr : &found->second;
}

void keyspace::note_change(std::string_view key, nanoseconds when)
{
    if (!notes_changes_)
        return;
    const auto found = keys_.find(key);
    auto before = found == keys_.end() ? std::nullopt : std::optional(found->second);
    journal_.push_back({when, std::string(key), std::move(before)});
}

void keyspace::set(std::string_view key, entry value, nanoseconds when)
{
    note_change(key, when);
    keys_.insert_or_assign(std::string(key), std::move(value));
}

void keyspace::erase(std::string_view key, nanoseconds when)
{
    const auto found = keys_.find(key);
    if (found == keys_.end())
        return;
    note_change(key, when);
    keys_.erase(found);
}

void keyspace::clear(nanoseconds when)
{
    while (!keys_.empty())
        erase(std::string(keys_.begin()->first), when);
}

void keyspace::roll_back(nanoseconds when)
{
    for (; !journal_.empty() && journal_.back().when > when; journal_.pop_back())
    {
        change& last = journal_.back();
        if (last.before)
            keys_.insert_or_assign(last.key, std::move(*last.before));
        else
            keys_.erase(last.key);
    }
}

}  // namespace redlock::sim
