#include "testing/fake_server.hpp"

#include "core/hold_value.hpp"
#include "core/limits.hpp"

#include <array>
#include <optional>
#include <utility>

#include "testing/manual_time.hpp"

namespace redlock::testing {

namespace {

using detail::news;
using detail::question;
using detail::reply;
using detail::verb;

using namespace std::chrono_literals;

std::chrono::microseconds microseconds_of(std::uint64_t stamp)
{
    return std::chrono::microseconds(static_cast<std::chrono::microseconds::rep>(stamp));
}

const reply granted{vote::granted};

/// In place of a client's name. See guarded_restore.lua.
constexpr std::string_view unrestored = "--";

/// What follows the id in a value: see ours.lua.
std::string said_by_holder(const core::hold_value& holder)
{
    return ' ' + std::to_string(holder.token.value()) + ' ' + std::string(holder.client) +
           (holder.revoked ? " 1 " : " 0 ") + std::to_string(holder.stamp) + ' ' +
           std::string(holder.note.text());
}

std::string said_by_holder(std::uint64_t token, const std::string& client, const note& says)
{
    return said_by_holder(
        {.token = fencing_token::from_value(token), .client = client, .stamp = token, .note = says}
    );
}

/// A question while it runs.
class command
{
public:
    command(fake_server& on, const question& asked, const std::string& client, nanoseconds now)
        : on_(on), asked_(asked), client_(client), now_(now), key_(asked.key()), id_(asked.id())
    {
    }

    reply acquire()
    {
        if (on_.store.remaining(key_, now_) > 0ms)
            return {vote::denied, reason::held};
        on_.store.put(key_, id_, asked_.ttl(), now_, false);
        on_.tell_change(key_, client_);
        return granted;
    }

    reply extend()
    {
        if (on_.store.remaining(key_, now_) == 0ms && !on_.store.has_lost(id_))
            return acquire();
        if (!ours())
            return {vote::denied, reason::gone};
        on_.store.extend(key_, asked_.ttl(), now_);
        on_.tell_change(key_, client_);
        return granted;
    }

    reply release()
    {
        if (!ours())
            return {vote::denied, reason::gone};
        on_.store.erase(key_);
        on_.tell_change(key_, client_);
        return granted;
    }

    reply inspect()
    {
        reply told = tell_holder();
        told.text = on_.store.whole_value(key_, now_);
        return told;
    }

    reply inspect_guarded()
    {
        if (const auto no = not_allowed())
            return *no;
        reply told = inspect();
        told.waiting = on_.queues.waiting[key_].size();
        told.node_time = clock();
        return told;
    }

    reply track()
    {
        on_.tracked[key_].insert(client_);
        return tell_holder();
    }

    reply tell_holder()
    {
        reply told = granted;
        told.held_for = on_.store.remaining(key_, now_);
        return told;
    }

    reply leave()
    {
        leave_queue();
        if (give_reservation_up() && on_.store.remaining(key_, now_) == 0ms)
            wake_next();
        return granted;
    }

    reply acquire_guarded()
    {
        if (const auto no = not_allowed())
            return *no;
        if (ours())
            return granted;
        const milliseconds held_for = std::max(on_.store.remaining(key_, now_), yields());
        if (held_for > 0ms)
        {
            reply answer = refusal(vote::denied, reason::held);
            answer.held_for = held_for;
            if (asked_.entry().move == core::queue_move::keep)
                answer.position = enter_queue();
            return answer;
        }
        const std::uint64_t token = asked_.attempt()->token.value();
        if (!in_window(token))
            return refusal(vote::refused, reason::clock);
        std::uint64_t& fence = on_.guard.fences[key_];
        if (token <= fence)
        {
            reply answer = refusal(vote::refused, reason::fence);
            answer.fence = fencing_token::from_value(fence);
            return answer;
        }
        fence = token;
        on_.queues.reserved.erase(key_);
        if (has_waited(token))
            leave_queue();
        const reply answer = acquire();
        const note& says = asked_.attempt()->of->options.note;
        on_.store.say(key_, said_by_holder(token, client_, says));
        return answer;
    }

    reply extend_guarded()
    {
        if (const auto no = not_allowed())
            return *no;
        if (!ours())
            return take_again();
        if (core::read_hold_value(on_.store.whole_value(key_, now_)).revoked)
            return refusal(vote::refused, reason::revoked);
        if (!in_window(asked_.stamp()))
            return refusal(vote::refused, reason::clock);
        if (const auto& news = asked_.says().announced)
            announce(*news);
        const bool restored =
            core::read_hold_value(on_.store.whole_value(key_, now_)).client != unrestored;
        const reply answer = extend();
        return restored ? answer : refusal(vote::granted, reason::gone);
    }

    reply revoke_guarded()
    {
        const std::uint64_t token = asked_.attempt()->token.value();
        if (!in_window(asked_.stamp()) || microseconds_of(token) - clock() > on_.guard.window)
            return refusal(vote::refused, reason::clock);
        const std::string value = on_.store.whole_value(key_, now_);
        const core::hold_value holder = core::read_hold_value(value);
        const milliseconds left = on_.store.remaining(key_, now_);
        const bool marks = holder.token.value() == token && token != 0 && !holder.kept;
        if (marks)
            on_.revoke(key_, now_);
        else if (left > 0ms && !holder.token)
        {
            reply answer = refusal(vote::denied, reason::held);
            answer.held_for = left;
            return answer;
        }
        else
            raise_fence(token);
        on_.guard.over[key_].revoked.insert(token);
        reply answer = refusal(vote::granted, marks ? reason::none : reason::gone);
        answer.held_for = std::max(marks ? left : 0ms, quarantine_left());
        return answer;
    }

    reply keep_guarded()
    {
        const std::string value = on_.store.whole_value(key_, now_);
        const core::hold_value holder = core::read_hold_value(value);
        const std::uint64_t token = asked_.attempt()->token.value();
        const bool had_key = ours();
        const std::chrono::microseconds past =
            std::max(clock() - microseconds_of(token), -on_.guard.window);
        const std::chrono::microseconds left = asked_.says().at_least - past;
        if (holder.kept && holder.token.value() == token)
        {
            on_.store.extend(key_, std::chrono::ceil<milliseconds>(left), now_);
            return kept(false);
        }
        const bool has_other = !value.empty() && !had_key && !kept_before(holder);
        if (has_other || on_.guard.over[key_].freed >= token)
        {
            release_guarded();
            mark_over(&fake_mark::released);
            return refusal(vote::denied, reason::gone);
        }
        if (left > 0ms)
            keep_for(std::chrono::ceil<milliseconds>(left), had_key ? value : std::string());
        else
            release_guarded();
        mark_over(&fake_mark::released);
        return kept(had_key);
    }

    reply free_guarded()
    {
        const std::string value = on_.store.whole_value(key_, now_);
        const core::hold_value holder = core::read_hold_value(value);
        mark_over(&fake_mark::freed);
        if (!holder.kept || holder.token > asked_.attempt()->token)
            return {vote::denied, reason::gone};
        on_.store.erase(key_);
        on_.tell_change(key_, client_);
        if (on_.queues.flagged.erase(key_) == 1)
            wake_next();
        return granted;
    }

    reply release_guarded()
    {
        const reply answer = undo_guarded();
        bury();
        return answer;
    }

    reply undo_guarded()
    {
        const reply answer = release();
        const bool deleted = answer.vote == vote::granted;
        const bool somebody_waits = deleted && on_.queues.flagged.erase(key_) == 1;
        if (asked_.entry().move == core::queue_move::keep)
            enter_queue(deleted);
        else if (asked_.entry().move == core::queue_move::leave && (!deleted || somebody_waits))
            leave_queue();
        if (somebody_waits)
            wake_next();
        return answer;
    }

    reply finish_guarded()
    {
        mark_over(&fake_mark::released);
        return release_guarded();
    }

    reply restore_guarded()
    {
        const std::string value = on_.store.whole_value(key_, now_);
        core::hold_value said = core::read_hold_value(value);
        if (!ours() || said.client != unrestored)
            return {vote::denied, reason::gone};
        const auto& last = asked_.says().announced;
        const std::uint64_t stamp = last ? last->stamp : asked_.attempt()->token.value();
        said.client = client_;
        if (said.stamp <= stamp)
        {
            said.stamp = stamp;
            said.note = last ? last->text : asked_.attempt()->of->options.note;
        }
        on_.store.say(key_, said_by_holder(said));
        return granted;
    }

private:
    /// The key is gone, or isn't ours.
    reply take_again()
    {
        const std::uint64_t token = asked_.attempt()->token.value();
        const std::string value = on_.store.whole_value(key_, now_);
        const core::hold_value other = core::read_hold_value(value);
        const bool in_the_way = !value.empty() && !kept_before(other);
        if (in_the_way || on_.store.has_lost(id_))
            return refusal(vote::denied, reason::gone);
        const fake_mark& mark = on_.guard.over[key_];
        if (mark.revoked.contains(token))
            return refusal(vote::refused, reason::revoked);
        if (mark.released >= token)
            return refusal(vote::denied, reason::gone);
        if (!in_window(asked_.stamp()))
            return refusal(vote::refused, reason::clock);
        on_.store.erase(key_);
        acquire();
        const core::hold_value taken{.token = asked_.attempt()->token, .client = unrestored};
        on_.store.say(key_, said_by_holder(taken));
        raise_fence(token);
        if (const auto& news = asked_.says().announced)
            announce(*news);
        return refusal(vote::granted, reason::gone);
    }

    void keep_for(milliseconds left, const std::string& value)
    {
        const std::string token = std::to_string(asked_.attempt()->token.value());
        const std::string rest =
            value.empty() ? " - 0 " + token + ' ' : value.substr(value.find(' ', id_.size() + 1));
        if (value.empty())
            bury();
        on_.store.put(key_, "kept " + token, left, now_, false, rest);
        on_.tell_change(key_, client_);
        if (asked_.entry().move == core::queue_move::keep)
            enter_queue(!value.empty());
        else if (asked_.entry().move == core::queue_move::leave)
            leave_queue();
        tell_next(left);
    }

    /// What an earlier hold's release keeps, should it come late, is in nobody's way.
    [[nodiscard]] bool kept_before(const core::hold_value& other) const
    {
        return other.kept && other.token < asked_.attempt()->token;
    }

    /// What was kept may not count.
    reply kept(bool had_key)
    {
        const auto no = had_key ? std::nullopt : not_allowed();
        if (no)
            return *no;
        return in_window(asked_.stamp()) ? granted : refusal(vote::refused, reason::clock);
    }

    /// A late acquisition is refused.
    void bury()
    {
        const std::uint64_t token = asked_.attempt()->token.value();
        if (microseconds_of(token) - clock() <= on_.guard.window)
            raise_fence(token);
    }

    void raise_fence(std::uint64_t token)
    {
        on_.guard.fences[key_] = std::max(on_.guard.fences[key_], token);
    }

    void mark_over(std::uint64_t fake_mark::* how)
    {
        std::uint64_t& token = on_.guard.over[key_].*how;
        token = std::max(token, asked_.attempt()->token.value());
    }

    /// The later note stays.
    void announce(const detail::announcement& news)
    {
        const std::string value = on_.store.whole_value(key_, now_);
        core::hold_value said = core::read_hold_value(value);
        if (!said.token || news.stamp <= said.stamp)
            return;
        said.stamp = news.stamp;
        said.note = news.text;
        on_.store.say(key_, said_by_holder(said));
    }

    [[nodiscard]] bool ours() const { return on_.store.value(key_, now_) == id_; }

    /// The node's clock.
    [[nodiscard]] std::chrono::microseconds clock() const
    {
        const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now_);
        return beginning_of_time + elapsed + on_.guard.clock_offset;
    }

    [[nodiscard]] bool in_window(std::uint64_t stamp) const
    {
        return abs(microseconds_of(stamp) - clock()) <= on_.guard.window;
    }

    [[nodiscard]] reply refusal(vote how, reason why) const
    {
        reply answer{how, why};
        answer.node_time = clock();
        return answer;
    }

    /// How long the node's forgotten promises may still last.
    [[nodiscard]] milliseconds quarantine_left() const
    {
        if (!on_.guard.marked)
            return on_.guard.quarantine;
        const nanoseconds left = on_.guard.quarantined_until - now_;
        return std::max(std::chrono::ceil<milliseconds>(left), 0ms);
    }

    /// What acquisition and extension check first.
    std::optional<reply> not_allowed() const
    {
        if (!on_.guard.marked)
            return refusal(vote::refused, reason::unmarked);
        if (now_ >= on_.guard.quarantined_until)
            return std::nullopt;
        reply answer = refusal(vote::refused, reason::quarantined);
        answer.ready_in = std::chrono::ceil<milliseconds>(on_.guard.quarantined_until - now_);
        return answer;
    }

    /// How long the resource is reserved for someone who goes first. A try has no place, so it
    /// yields to every reservation.
    milliseconds yields() const
    {
        const auto found = on_.queues.reserved.find(key_);
        if (found == on_.queues.reserved.end())
            return 0ms;
        const auto& [first, expires] = found->second;
        const bool waits = asked_.entry().move == core::queue_move::keep;
        const bool goes_first =
            !waits || (first.client != client_ && first.arrival <= seen(asked_.entry().arrival));
        return goes_first && now_ < expires ? std::chrono::ceil<milliseconds>(expires - now_) : 0ms;
    }

    /// What counts of an arrival. A clock that is off doesn't put anyone before those who have
    /// waited longer.
    /// @param was_granted Whether this node has granted the round. So its token was good.
    std::uint64_t seen(std::uint64_t arrival, bool was_granted = false) const
    {
        const auto ago = [this](std::chrono::microseconds time) {
            return static_cast<std::uint64_t>((clock() - time).count());
        };
        const std::uint64_t token = asked_.attempt()->token.value();
        if (was_granted || in_window(token))
            return std::max(std::min(arrival, token), ago(core::longest_turn));
        return std::clamp(arrival, ago(on_.guard.window), ago(0ms));
    }

    /// Whether an acquisition that is granted may be in the queue.
    [[nodiscard]] bool has_waited(std::uint64_t token) const
    {
        const detail::queue_entry& entry = asked_.entry();
        return entry.move == core::queue_move::keep &&
               (entry.arrival != token || entry.reservation > 0ms);
    }

    /// @return Its position, from 1. One beyond the last if the queue is full.
    std::size_t enter_queue(bool was_granted = false)
    {
        auto& queue = on_.queues.waiting[key_];
        const fake_place entered{seen(asked_.entry().arrival, was_granted), client_};
        auto place = std::ranges::find(queue, client_, &fake_place::client);
        if (place != queue.end() && entered < *place)
        {
            queue.erase(place);
            place = queue.end();
        }
        if (place == queue.end())
            place = queue.insert(std::ranges::upper_bound(queue, entered), entered);
        const auto before = static_cast<std::size_t>(place - queue.begin());
        if (queue.size() > core::max_queue)
            queue.pop_back();
        if (before == queue.size())
            return core::max_queue + 1;
        if (asked_.entry().reservation > 0ms)
            on_.queues.distant[{key_, client_}] = asked_.entry().reservation;
        on_.queues.flagged.insert(key_);
        return before + 1;
    }

    void leave_queue()
    {
        std::erase_if(on_.queues.waiting[key_], [this](const fake_place& each) {
            return each.client == client_;
        });
    }

    /// @return Whether there was one for this client.
    bool give_reservation_up()
    {
        const auto found = on_.queues.reserved.find(key_);
        if (found == on_.queues.reserved.end() || found->second.first.client != client_ ||
            now_ >= found->second.expires)
            return false;
        on_.queues.reserved.erase(found);
        return true;
    }

    void wake_next()
    {
        auto& queue = on_.queues.waiting[key_];
        while (!queue.empty())
        {
            const fake_place first = queue.front();
            queue.erase(queue.begin());
            const auto woken = on_.queues.channels[first.client].lock();
            if (!woken || !woken->tell({news::kind::free, key_}))
                continue;
            milliseconds lasts = on_.queues.reservation;
            if (const auto longer = on_.queues.distant.extract({key_, first.client}))
                lasts = std::max(lasts, longer.mapped());
            on_.queues.reserved[key_] = {first, now_ + lasts};
            on_.queues.flagged.insert(key_);
            return tell_next(lasts);
        }
    }

    /// Tells the first of the queue how long another client has the resource.
    void tell_next(milliseconds lasts)
    {
        const auto& queue = on_.queues.waiting[key_];
        if (queue.empty())
            return;
        if (const auto next = on_.queues.channels[queue.front().client].lock())
            next->tell({news::kind::next, key_, static_cast<std::uint64_t>(lasts.count())});
    }

    fake_server& on_;
    const question& asked_;
    const std::string& client_;
    nanoseconds now_;
    std::string key_;
    std::string id_;
};

/// The functions that answer a verb, in both modes.
struct verb_row
{
    verb what;
    reply (command::*plain)();
    reply (command::*guarded)();
};

constexpr std::array<verb_row, detail::verb_count> table{{
    {verb::acquire, &command::acquire, &command::acquire_guarded},
    {verb::extend, &command::extend, &command::extend_guarded},
    {verb::restore, &command::restore_guarded, &command::restore_guarded},
    {verb::release, &command::release, &command::release_guarded},
    {verb::undo, &command::undo_guarded, &command::undo_guarded},
    {verb::finish, &command::release, &command::finish_guarded},
    {verb::holder, &command::tell_holder, &command::tell_holder},
    {verb::track, &command::track, &command::track},
    {verb::leave, &command::leave, &command::leave},
    {verb::inspect, &command::inspect, &command::inspect_guarded},
    {verb::revoke, &command::revoke_guarded, &command::revoke_guarded},
    {verb::keep, &command::keep_guarded, &command::keep_guarded},
    {verb::free, &command::free_guarded, &command::free_guarded},
}};

}  // namespace

void fake_store::extend(const std::string& key, milliseconds ttl, nanoseconds now)
{
    nanoseconds& expires = keys_.at(key).expires;
    expires = std::max(expires, expiry(ttl, now));
}

milliseconds fake_store::remaining(const std::string& key, nanoseconds now) const
{
    const entry* const found = find(key, now);
    if (!found)
        return milliseconds(0);
    if (found->expires == nanoseconds::max())
        return forever;
    return std::chrono::ceil<milliseconds>(found->expires - now);
}

std::string fake_store::value(const std::string& key, nanoseconds now) const
{
    const entry* const found = find(key, now);
    return found ? found->id : std::string();
}

std::string fake_store::whole_value(const std::string& key, nanoseconds now) const
{
    const entry* const found = find(key, now);
    return found ? found->id + found->more : std::string();
}

std::size_t fake_store::count_set(nanoseconds now) const
{
    return static_cast<std::size_t>(std::ranges::count_if(keys_, [now](const auto& each) {
        return !each.second.foreign && each.second.expires > now;
    }));
}

const fake_store::entry* fake_store::find(const std::string& key, nanoseconds now) const
{
    const auto found = keys_.find(key);
    return found != keys_.end() && found->second.expires > now ? &found->second : nullptr;
}

reply fake_server::answer(const question& asked, const std::string& client, nanoseconds now)
{
    const verb_row& row = *std::ranges::find(table, asked.what(), &verb_row::what);
    command runs(*this, asked, client, now);
    return (runs.*(asked.guarded() ? row.guarded : row.plain))();
}

void fake_server::take_elsewhere(
    const std::string& key,
    milliseconds ttl,
    const note& says,
    nanoseconds now
)
{
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now);
    const auto time = beginning_of_time + elapsed + guard.clock_offset;
    const std::uint64_t token =
        std::max(static_cast<std::uint64_t>(time.count()), guard.fences[key] + 1);
    const std::string id = "another" + std::to_string(token);
    store.put(key, id, ttl, now, true, said_by_holder(token, "-", says));
    tell_change(key);
}

void fake_server::revoke(const std::string& key, nanoseconds now)
{
    const std::string value = store.whole_value(key, now);
    core::hold_value holder = core::read_hold_value(value);
    if (!holder.token || holder.kept)
        return;
    holder.revoked = true;
    store.say(key, said_by_holder(holder));
    tell_change(key);
    if (const auto told = queues.channels[std::string(holder.client)].lock())
        told->tell({news::kind::revoked, key, holder.token.value()});
}

void fake_server::forget()
{
    store.clear();
    guard.fences.clear();
    guard.over.clear();
    tracked.clear();
    queues.waiting.clear();
    queues.reserved.clear();
    queues.flagged.clear();
    queues.distant.clear();
}

void fake_server::tell_change(const std::string& key, const std::string& by)
{
    const auto found = tracked.find(key);
    if (found == tracked.end())
        return;
    for (const std::string& client : std::exchange(found->second, {}))
    {
        const auto told = client != by ? queues.channels[client].lock() : nullptr;
        if (told)
            told->tell({news::kind::changed, key});
    }
}

}  // namespace redlock::testing
