#include "testing/fake_node.hpp"

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "testing/manual_time.hpp"

namespace redlock::testing {

namespace {

using detail::question;
using detail::question_ptr;
using detail::reply;
using detail::verb;

using namespace std::chrono_literals;

std::chrono::microseconds microseconds_of(std::uint64_t stamp)
{
    return std::chrono::microseconds(static_cast<std::chrono::microseconds::rep>(stamp));
}

reply granted_reply()
{
    reply answer;
    answer.vote = vote::granted;
    return answer;
}

/// What real nodes say most often in this state.
reason reason_of(node_state state) noexcept
{
    switch (state)
    {
    case node_state::connecting:
    case node_state::ready: break;
    case node_state::down: return reason::down;
    case node_state::rejected: return reason::rejected;
    case node_state::quarantined: return reason::quarantined;
    }
    return reason::none;
}

/// Of one width, so that equal arrivals are in the order of creation.
std::string unique_channel()
{
    static std::atomic<unsigned> count = 1'000'000;
    return std::to_string(++count);
}

nanoseconds expiry(milliseconds ttl, nanoseconds now)
{
    return ttl == forever ? nanoseconds::max() : now + ttl;
}

}  // namespace

void fake_store::put(
    const std::string& key,
    const std::string& id,
    milliseconds ttl,
    nanoseconds now
)
{
    keys_[key] = {id, expiry(ttl, now), true};
}

bool fake_store::set_if_absent(
    const std::string& key,
    const std::string& id,
    milliseconds ttl,
    nanoseconds now
)
{
    if (find(key, now))
        return false;
    keys_[key] = {id, expiry(ttl, now), false};
    return true;
}

bool fake_store::prolong_if_equal(
    const std::string& key,
    const std::string& id,
    milliseconds ttl,
    nanoseconds now
)
{
    if (!has(key, id, now))
        return false;
    nanoseconds& expires = keys_[key].expires;
    expires = std::max(expires, expiry(ttl, now));
    return true;
}

bool fake_store::delete_if_equal(const std::string& key, const std::string& id, nanoseconds now)
{
    return has(key, id, now) && keys_.erase(key) == 1;
}

milliseconds fake_store::left(const std::string& key, nanoseconds now) const
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

bool fake_store::has(const std::string& key, const std::string& id, nanoseconds now) const
{
    const entry* const found = find(key, now);
    return found && found->id == id;
}

rule& rule::reply(vote answer, redlock::reason why)
{
    made_up_.emplace();
    made_up_->vote = answer;
    made_up_->why = why;
    return *this;
}

rule& rule::error(std::string text)
{
    text_ = std::move(text);
    return reply(vote::refused, redlock::reason::error_reply);
}

rule& rule::held_for(milliseconds left)
{
    reply(vote::granted);
    made_up_->held_for = left;
    return *this;
}

rule& rule::absent(redlock::reason why, error_code code)
{
    at_once_ = true;
    reply(why == redlock::reason::rejected ? vote::refused : vote::unknown, why);
    made_up_->code = code;
    return *this;
}

rule& rule::repeated(std::size_t answers)
{
    answers_ = answers;
    return *this;
}

rule& rule::after(milliseconds delay)
{
    answers_after_ = delay;
    return *this;
}

rule& rule::runs_after(milliseconds delay)
{
    runs_after_ = delay;
    return *this;
}

rule& rule::never()
{
    arrives_ = false;
    return *this;
}

rule& rule::loses_answer()
{
    return repeated(0);
}

rule& rule::breaks_connection(milliseconds away)
{
    away_ = away;
    return *this;
}

rule& rule::times(std::size_t count)
{
    uses_ = count;
    return *this;
}

const rule* fail_nth::count()
{
    return left_ > 0 && --left_ == 0 ? &failure_ : nullptr;
}

/// A command that was written to the connection.
struct fake_node::flight
{
    kept_question kept;
    rule how;
    reply answer;
    bool over = false;  ///< Answered, or its connection broke.
};

fake_node::fake_node(
    std::size_t index,
    std::shared_ptr<world> time,
    std::shared_ptr<journal> log,
    std::shared_ptr<fake_server> server
)
    : index_(index),
      channel_(unique_channel()),
      time_(std::move(time)),
      log_(std::move(log)),
      server_(std::move(server)),
      status_{"node" + std::to_string(index), node_state::connecting, {}}
{
}

void fake_node::start(std::weak_ptr<owner> of)
{
    owner_ = std::move(of);
    server_->queues.channels[channel_] = [weak = weak_from_this()](const std::string& key) {
        const auto self = weak.lock();
        return self && self->wakes(key);
    };
    server_->queues.next_channels[channel_] =
        [weak = weak_from_this()](const std::string& key, milliseconds reserved) {
            if (const auto self = weak.lock())
                self->tells_next(key, reserved);
        };
    becomes(starts_as_.state, starts_as_.because, starts_as_.code);
}

void fake_node::stop() noexcept
{
    becomes(node_state::down, "stopped", boost::asio::error::operation_aborted);
    stopping_ = true;
    later(stops_after_, [](fake_node& self) {
        if (const auto told = std::exchange(self.owner_, {}).lock())
            told->on_node_stopped();
    });
}

std::optional<reply> fake_node::ask(question_ptr asked)
{
    log_->push_back({
        .node = index_,
        .what = asked->what(),
        .key = std::string(asked->key()),
        .id = std::string(asked->id()),
        .ttl = asked->ttl(),
        .at = time_->elapsed(),
    });
    kept_question kept{std::move(asked), log_->size() - 1};
    switch (status_.state)
    {
    case node_state::connecting: waiting_.push_back(std::move(kept)); return std::nullopt;
    case node_state::ready: return put_to_connection(std::move(kept));
    case node_state::quarantined:
    case node_state::down:
    case node_state::rejected: break;
    }
    if (kept.asked->what() == verb::release)
        releases_.push_back(std::move(kept));
    return absent_reply();
}

std::size_t fake_node::owed_releases() const noexcept
{
    const bool connected =
        status_.state == node_state::ready || status_.state == node_state::quarantined;
    if (!connected && !reconnects_)
        return 0;
    const auto in_flight = std::ranges::count_if(in_flight_, [](const auto& each) {
        return each->kept.asked->what() == verb::release;
    });
    return releases_.size() + static_cast<std::size_t>(in_flight);
}

rule& fake_node::on(verb what)
{
    auto& rules = rules_[what];
    if (!rules.empty() && rules.back().uses_ == rule::always)
        rules.pop_back();
    return rules.emplace_back();
}

void fake_node::starts(node_state state, std::string because, error_code code)
{
    starts_as_ = {state, std::move(because), code};
}

void fake_node::becomes(node_state state, std::string because, error_code code)
{
    later(nanoseconds(0), [to = change{state, std::move(because), code}](fake_node& self) {
        self.apply(to);
    });
}

template <class F>
void fake_node::later(nanoseconds delay, F what)
{
    time_->at(time_->elapsed() + delay, [weak = weak_from_this(), what = std::move(what)]() {
        if (const auto self = weak.lock())
            what(*self);
    });
}

rule fake_node::take_rule(verb what)
{
    if (const rule* const failure = fuse_ ? fuse_->count() : nullptr)
        return *failure;

    auto& rules = rules_[what];
    if (rules.empty())
        return {};
    const rule taken = rules.front();
    if (taken.uses_ != rule::always && --rules.front().uses_ == 0)
        rules.pop_front();
    return taken;
}

std::optional<reply> fake_node::put_to_connection(kept_question asked)
{
    const rule how = take_rule(asked.asked->what());
    if (how.at_once_)
    {
        if (asked.asked->what() == verb::release)
            keep(std::move(asked));
        return refuse(how);
    }
    send(std::move(asked), how);
    return std::nullopt;
}

reply fake_node::refuse(const rule& how)
{
    reply answer = *how.made_up_;
    answer.text = how.text_;
    return answer;
}

reply fake_node::absent_reply()
{
    reply answer;
    answer.text = status_.because;
    answer.code = status_.code;
    const bool rejected = status_.state == node_state::rejected;
    answer.vote = rejected ? vote::refused : vote::unknown;
    answer.why = rejected ? reason::rejected : reason::down;
    return answer;
}

/// A node that is connected, but does not take a release now, sends it a little later.
void fake_node::keep(kept_question release)
{
    releases_.push_back(std::move(release));
    later(milliseconds(5), [](fake_node& self) {
        if (self.status_.state == node_state::ready)
            self.send_kept();
    });
}

void fake_node::send(kept_question asked, const rule& how)
{
    (*log_)[asked.in_journal].sent = true;
    asked.asked->mark_sent(index_);
    const auto command = std::make_shared<flight>(flight{std::move(asked), how, {}});
    in_flight_.push_back(command);
    if (!how.arrives_)
        return;

    last_arrival_ = std::max(last_arrival_, time_->elapsed() + how.runs_after_);
    later(last_arrival_ - time_->elapsed(), [command](fake_node& self) { self.arrive(command); });
}

void fake_node::arrive(const std::shared_ptr<flight>& command)
{
    // The command runs even if its connection has broken meanwhile: the server has its bytes.
    const rule& how = command->how;
    if (how.away_)
        return break_connection(*how.away_);
    const question& asked = *command->kept.asked;
    const auto run = [this, &asked] {
        return asked.guarded() ? execute_guarded(asked) : execute(asked);
    };
    command->answer = how.made_up_ ? *how.made_up_ : run();
    command->answer.text = how.text_;
    if (how.answers_ == 0)
        return;

    last_answer_ = std::max(last_answer_, time_->elapsed() + how.answers_after_);
    if (last_answer_ <= time_->elapsed())
        return deliver(command);
    later(last_answer_ - time_->elapsed(), [command](fake_node& self) { self.deliver(command); });
}

void fake_node::deliver(const std::shared_ptr<flight>& command)
{
    if (std::exchange(command->over, true))
        return;
    std::erase(in_flight_, command);
    for (std::size_t answer = 0; answer < command->how.answers_; ++answer)
        command->kept.asked->on_reply(index_, command->answer);
}

void fake_node::break_connection(milliseconds away)
{
    apply({node_state::down, "connection reset", boost::asio::error::connection_reset});
    reconnects_ = true;
    later(away, [](fake_node& self) {
        if (!self.stopping_)
            self.apply({node_state::ready, {}, {}});
    });
}

void fake_node::apply(const change& to)
{
    reconnects_ = false;
    status_.state = to.state;
    status_.because = to.because;
    status_.reason = reason_of(to.state);
    status_.code = to.code;
    switch (to.state)
    {
    case node_state::connecting: break;
    case node_state::ready: send_kept(); break;
    case node_state::quarantined:
    case node_state::down:
    case node_state::rejected: fail_all(); break;
    }
    if (const auto told = owner_.lock())
        told->on_node_change();
}

void fake_node::fail_all()
{
    for (const auto& command : std::exchange(in_flight_, {}))
    {
        command->over = true;
        reply lost;
        lost.why = reason::connection_lost;
        lost.code = status_.code;
        command->kept.asked->on_reply(index_, lost);
        if (command->kept.asked->what() == verb::release)
            releases_.push_back(command->kept);
    }
    const reply absent = absent_reply();
    for (const auto& kept : std::exchange(waiting_, {}))
        kept.asked->on_reply(index_, absent);
}

void fake_node::send_kept()
{
    for (auto& kept : std::exchange(waiting_, {}))
    {
        if (!kept.asked->wanted())
            continue;
        const rule how = take_rule(kept.asked->what());
        send(std::move(kept), how);
    }
    for (auto& kept : std::exchange(releases_, {}))
        send(std::move(kept), {});
}

/// A node's clock.
std::chrono::microseconds fake_node::clock() const
{
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(time_->elapsed());
    return beginning_of_time + elapsed + server_->guard.clock_offset;
}

reply fake_node::refusal(vote how, reason why) const
{
    reply answer;
    answer.vote = how;
    answer.why = why;
    answer.node_time = clock();
    return answer;
}

/// What the acquisition and the extension look at first.
std::optional<reply> fake_node::not_allowed() const
{
    if (!server_->guard.marked)
        return refusal(vote::refused, reason::unmarked);
    if (time_->elapsed() >= server_->guard.quarantined_until)
        return std::nullopt;
    reply answer = refusal(vote::refused, reason::quarantined);
    answer.ready_in =
        std::chrono::ceil<milliseconds>(server_->guard.quarantined_until - time_->elapsed());
    return answer;
}

reply fake_node::acquire_guarded(const question& asked)
{
    const std::string key(asked.key());
    const std::uint64_t token = asked.about()->token.value();
    std::uint64_t& fence = server_->guard.fences[key];
    if (const auto no = not_allowed())
        return *no;
    if (server_->store.value(key, time_->elapsed()) == asked.id())
        return granted_reply();
    const milliseconds held_for =
        std::max(server_->store.left(key, time_->elapsed()), yields(asked));
    if (held_for > 0ms)
    {
        reply answer = refusal(vote::denied, reason::held);
        answer.held_for = held_for;
        if (asked.entry().move == core::queue_move::keep)
            answer.position = enter(asked);
        return answer;
    }
    if (abs(microseconds_of(token) - clock()) > server_->guard.window)
        return refusal(vote::refused, reason::clock);
    if (token <= fence)
    {
        reply answer = refusal(vote::refused, reason::fence);
        answer.fence = fencing_token::from_value(fence);
        return answer;
    }
    fence = token;
    server_->queues.reserved.erase(key);
    return execute(asked);
}

/// For how long the resource is reserved for somebody who goes first. A try has no place: it yields
/// to every reservation.
milliseconds fake_node::yields(const question& asked) const
{
    const auto found = server_->queues.reserved.find(std::string(asked.key()));
    if (found == server_->queues.reserved.end())
        return 0ms;
    const auto& [first, expires] = found->second;
    const bool waits = asked.entry().move == core::queue_move::keep;
    const bool goes_first =
        !waits || (first.client != channel_ && first.arrival <= seen(asked.entry().arrival));
    if (!goes_first || time_->elapsed() >= expires)
        return 0ms;
    return std::chrono::ceil<milliseconds>(expires - time_->elapsed());
}

/// A clock that is off puts nobody before those who have waited for longer.
std::uint64_t fake_node::seen(std::uint64_t arrival) const
{
    const auto now = static_cast<std::uint64_t>(clock().count());
    const auto window = static_cast<std::uint64_t>(server_->guard.window.count());
    return std::clamp(arrival, now - window, now);
}

/// @return Its position, from 1.
std::size_t fake_node::enter(const question& asked)
{
    const std::string key(asked.key());
    auto& queue = server_->queues.waiting[key];
    auto place = std::ranges::find(queue, channel_, &fake_place::client);
    if (place == queue.end())
    {
        const fake_place entered{seen(asked.entry().arrival), channel_};
        place = queue.insert(std::ranges::upper_bound(queue, entered), entered);
    }
    if (asked.entry().reservation > 0ms)
        server_->queues.far[{key, channel_}] = asked.entry().reservation;
    server_->queues.flagged.insert(key);
    return 1 + static_cast<std::size_t>(place - queue.begin());
}

void fake_node::leave(const std::string& key)
{
    std::erase_if(server_->queues.waiting[key], [this](const fake_place& each) {
        return each.client == channel_;
    });
}

/// @return Whether there was one for this client.
bool fake_node::give_reservation_up(const std::string& key)
{
    fake_queues& queues = server_->queues;
    const auto found = queues.reserved.find(key);
    if (found == queues.reserved.end() || found->second.first.client != channel_ ||
        time_->elapsed() >= found->second.expires)
        return false;
    queues.reserved.erase(found);
    return true;
}

void fake_node::wake_next(const std::string& key)
{
    fake_queues& queues = server_->queues;
    auto& queue = queues.waiting[key];
    while (!queue.empty())
    {
        const fake_place first = queue.front();
        queue.erase(queue.begin());
        if (!queues.channels[first.client](key))
            continue;
        const auto far = queues.far.find({key, first.client});
        const milliseconds lasts = far == queues.far.end()
                                       ? queues.reservation
                                       : std::max(queues.reservation, far->second);
        queues.reserved[key] = {first, time_->elapsed() + lasts};
        queues.flagged.insert(key);
        if (!queue.empty())
            queues.next_channels[queue.front().client](key, lasts);
        return;
    }
}

bool fake_node::wakes(const std::string& key)
{
    if (stopping_ || status_.state != node_state::ready)
        return false;
    later(nanoseconds(0), [key](fake_node& self) {
        if (const auto told = self.owner_.lock())
            told->on_wake(self.index_, key);
    });
    return true;
}

void fake_node::tells_next(const std::string& key, milliseconds reserved)
{
    later(nanoseconds(0), [key, reserved](fake_node& self) {
        const bool ready = !self.stopping_ && self.status_.state == node_state::ready;
        if (const auto told = ready ? self.owner_.lock() : nullptr)
            told->on_next(self.index_, key, reserved);
    });
}

reply fake_node::extend_guarded(const question& asked)
{
    if (const auto no = not_allowed())
        return *no;
    if (server_->store.value(std::string(asked.key()), time_->elapsed()) != asked.id())
        return refusal(vote::denied, reason::gone);
    if (abs(microseconds_of(asked.stamp()) - clock()) > server_->guard.window)
        return refusal(vote::refused, reason::clock);
    return execute(asked);
}

reply fake_node::execute_guarded(const question& asked)
{
    switch (asked.what())
    {
    case verb::acquire: return acquire_guarded(asked);
    case verb::extend: return extend_guarded(asked);
    case verb::leave:
    case verb::release:
    case verb::watch:
    case verb::holder: break;
    }
    if (asked.what() != verb::release)
        return execute(asked);
    const std::string key(asked.key());
    const reply answer = execute(asked);
    const bool deleted = answer.vote == vote::granted;
    const bool somebody_waits = deleted && server_->queues.flagged.erase(key) == 1;
    release_guarded(asked, !deleted || somebody_waits);
    if (somebody_waits)
        wake_next(key);
    return answer;
}

/// What a release does beside the deletion.
/// @param may_wait Its client may be in the queue.
void fake_node::release_guarded(const question& asked, bool may_wait)
{
    const std::string key(asked.key());
    const std::uint64_t tombstone = asked.about()->token.value();
    fake_guard& guard = server_->guard;
    if (microseconds_of(tombstone) - clock() <= guard.window)
        guard.fences[key] = std::max(guard.fences[key], tombstone);
    if (asked.entry().move == core::queue_move::keep)
        enter(asked);
    else if (asked.entry().move == core::queue_move::leave && may_wait)
        leave(key);
}

reply fake_node::execute(const question& asked)
{
    const nanoseconds now = time_->elapsed();
    const auto answer = [](bool done, reason otherwise) {
        reply result;
        result.vote = done ? vote::granted : vote::denied;
        result.why = done ? reason::none : otherwise;
        return result;
    };
    const std::string key(asked.key());
    const std::string id(asked.id());
    reply told;
    switch (asked.what())
    {
    case verb::acquire:
        return answer(server_->store.set_if_absent(key, id, asked.ttl(), now), reason::held);
    case verb::extend:
        return answer(server_->store.prolong_if_equal(key, id, asked.ttl(), now), reason::gone);
    case verb::release: return answer(server_->store.delete_if_equal(key, id, now), reason::gone);
    case verb::leave:
        leave(key);
        if (give_reservation_up(key) && server_->store.left(key, now) == 0ms)
            wake_next(key);
        return answer(true, reason::none);
    case verb::holder:
    case verb::watch:
        told.vote = vote::granted;
        told.held_for = server_->store.left(key, now);
        break;
    }
    return told;
}

}  // namespace redlock::testing
