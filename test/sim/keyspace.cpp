#include "sim/keyspace.hpp"

#include <utility>

namespace redlock::sim {

entry* keyspace::find(std::string_view key, std::int64_t now)
{
    const auto found = keys_.find(key);
    return found == keys_.end() || found->second.expired(now) ? nullptr : &found->second;
}

void keyspace::note_change(std::string_view key, nanoseconds when)
{
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
