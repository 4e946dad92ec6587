// What a server tells connections that did not ask: messages, and changes of keys they have read.
// As Redis 7.0 does it.

#include <algorithm>
#include <utility>

#include "sim/server.hpp"
#include "sim/server_words.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

/// Redis looks for keys that have expired about so often.
constexpr nanoseconds expiry_cycle = 100ms;

const char* const not_opted_in =
    "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";

}  // namespace

void server::hang_up(const session& gone)
{
    std::erase_if(listeners_, [&gone](const auto& each) { return each.get() == &gone; });
}

/// One that nobody keeps hears nothing: it ends with what it sent.
void server::listen(session& from)
{
    const auto kept = from.weak_from_this().lock();
    if (kept && std::ranges::find(listeners_, kept) == listeners_.end())
        listeners_.push_back(kept);
}

/// Puts a push behind what was replied before.
void server::push(session& to, std::vector<answer> what)
{
    const answer pushed = answer::push(std::move(what));
    note(to, {"pushed"}, pushed);
    encode(pushed, to.resp3, to.output);
    if (&to != at_work_ && to.on_push)
        to.on_push();
}

answer server::subscribe(const call& by)
{
    if (!by.from.resp3)
        return answer::error("ERR the simulated server speaks RESP3 to those who subscribe");
    listen(by.from);
    std::vector<answer> confirmations;
    for (std::size_t i = 1; i < by.with.size(); ++i)
    {
        by.from.channels.insert(by.with[i]);
        const auto count = static_cast<std::int64_t>(by.from.channels.size());
        confirmations.push_back(answer::push(
            {answer::bulk("subscribe"), answer::bulk(by.with[i]), answer::integer(count)}
        ));
    }
    for (std::size_t i = 0; i + 1 < confirmations.size(); ++i)
        encode(confirmations[i], true, by.from.output);
    return confirmations.back();
}

answer server::publish(const call& by)
{
    std::int64_t receivers = 0;
    for (const auto& each : listeners_)
    {
        if (!each->channels.contains(by.with[1]))
            continue;
        push(*each, {answer::bulk("message"), answer::bulk(by.with[1]), answer::bulk(by.with[2])});
        ++receivers;
    }
    return answer::integer(receivers);
}

answer server::client(const call& by)
{
    if (iequals(by.with[1], "TRACKING"))
        return client_tracking(by);
    if (iequals(by.with[1], "CACHING"))
        return client_caching(by);
    return answer::ok();
}

answer server::client_tracking(const call& by)
{
    bool on = false;
    bool opts_in = false;
    bool skips_own = false;
    for (std::size_t i = 2; i < by.with.size(); ++i)
    {
        if (i == 2 && iequals(by.with[i], "ON"))
            on = true;
        else if (on && iequals(by.with[i], "OPTIN"))
            opts_in = true;
        else if (on && iequals(by.with[i], "NOLOOP"))
            skips_own = true;
        else
            return answer::error(syntax_error);
    }
    if (!on || !opts_in || !by.from.resp3)
        return answer::error("ERR the simulated server tracks with RESP3 and OPTIN only");
    listen(by.from);
    by.from.tracks = true;
    by.from.skips_own = skips_own;
    return answer::ok();
}

answer server::client_caching(const call& by)
{
    if (by.with.size() != 3 || !iequals(by.with[2], "YES"))
        return answer::error(syntax_error);
    if (!by.from.tracks)
        return answer::error(not_opted_in);
    by.from.caches_next = true;
    return answer::ok();
}

/// Remembers the keys that a command has read, or a script of that command.
void server::track_reads(const command_spec& what, const call& by)
{
    session& from = by.from;
    if (from.caches_next && what.flags & (reads | reads_all))
    {
        const std::size_t end = what.flags & reads_all ? by.with.size() : 2;
        for (std::size_t i = 1; i < end; ++i)
        {
            from.tracked.insert(by.with[i]);
            plan_expiry(by.with[i], from.database);
        }
    }
    if (!by.in_script && !(what.flags & keeps_caching))
        from.caches_next = false;
}

/// Tells those who have read a key that it is not what it was. Once: they may read it again.
void server::invalidate(std::string_view key)
{
    for (const auto& each : listeners_)
    {
        const auto found = each->tracked.find(key);
        if (found == each->tracked.end())
            continue;
        each->tracked.erase(found);
        if (!each->skips_own || each.get() != at_work_)
        {
            const answer keys = answer::array({answer::bulk(std::string(key))});
            push(*each, {answer::bulk("invalidate"), keys});
        }
    }
}

void server::invalidate_all()
{
    for (const auto& each : listeners_)
    {
        each->tracked.clear();
        if (each->tracks)
            push(*each, {answer::bulk("invalidate"), answer::null()});
    }
}

/// Lets a key that somebody tracks be gone soon after its end.
void server::plan_expiry(const std::string& key, unsigned database)
{
    const auto& keys = databases_[database].all();
    const auto found = keys.find(key);
    if (found == keys.end() || found->second.expires == entry::never)
        return;
    const nanoseconds due = gone_at(found->second) + dice_.between(nanoseconds(0), expiry_cycle);
    time_.at(std::max(due, time_.elapsed()), [this, key, database, life = life_]() {
        if (life == life_)
            expire(key, database);
    });
}

void server::expire(std::string_view key, unsigned database)
{
    keyspace& keys = databases_[database];
    const auto found = keys.all().find(key);
    if (found == keys.all().end() || !found->second.expired(now_ms()))
        return;
    keys.erase(key, time_.elapsed());
    invalidate(key);
}

}  // namespace redlock::sim
