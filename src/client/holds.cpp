#include "client/holds.hpp"

#include "loop/randomness.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// Extensions that are due within this time are sent together.
constexpr core::nanoseconds longest_tick = 10ms;

/// The timer may be so late. The faster clock gains a little with each reading, and setting the
/// timer anew for that would cost more than an extension does.
constexpr core::nanoseconds timer_slack = 100us;

/// The first multiple of `tick` that isn't before `at`.
core::nanoseconds rounded_up(core::nanoseconds at, core::nanoseconds tick) noexcept
{
    const auto past = at % tick;
    return past == core::nanoseconds(0) ? at : at + (tick - past);
}

}  // namespace

holds::holds(
    const client_loop& loop,
    life& of,
    rounds& asking,
    window& extensions,
    lines& waiting,
    watchers& watching,
    events& events
)
    : loop_(loop),
      life_(of),
      rounds_(asking),
      extensions_(extensions),
      lines_(waiting),
      watchers_(watching),
      events_(events),
      jitter_(random_bits())
{
}

void holds::add(std::shared_ptr<hold> granted, core::instant asked, core::instant now)
{
    static_cast<void>(time_.read(now));
    granted->schedule.granted(time_.at(asked), granted->extended_by, jitter_());
    // There may already be one, whose keys have vanished.
    by_name_.erase(granted->name);
    by_name_.insert(*granted);
    watchers_.on_change(granted->resource());
    hold& held = *granted;
    held.kept_by = this;
    // The nodes that haven't answered yet may still grant.
    set_at_risk(held, held.granted_by().tally().granted() + held.granted_by().tally().missing());
    held.kept = std::move(granted);
    by_age_.push_back(held);
    put_in(held, now);
    events_.set_held(holds_.size());
    arm(now);
}

std::shared_ptr<hold> holds::remove(hold& over)
{
    for (suspension& waiting : over.lost_waiting)
        waiting.wake_first({});
    for (suspension& waiting : over.extending_waits)
        waiting.wake({});
    // The hold may no longer be found here, but the end of the context must find these.
    told_.splice(told_.end(), over.lost_waiting);
    told_.splice(told_.end(), over.extending_waits);
    if (!over.kept)
        return nullptr;
    if (over.named_hook::is_linked())
        by_name_.erase(by_name_.iterator_to(over));
    over.forget_extension();
    at_risk_ -= std::exchange(over.at_risk, false);
    events_.set_at_risk(at_risk_);
    holds_.erase(holds_.iterator_to(over));
    const auto at = by_age_.iterator_to(over);
    const auto after = by_age_.erase(at);
    for (tour& each : tours_)
    {
        if (each.next_ == at)
            each.next_ = after;
    }
    events_.set_held(holds_.size());
    if (lines_.size() > 0)
        lines_.on_hold_end(over.name, rounds_.times().now(), rounds_.times().era());
    watchers_.on_change(over.resource());
    life_.note_end();
    return std::move(over.kept);
}

void holds::lose(hold& held, core::hold_end why)
{
    // What keeps the hold may drop it in here.
    const auto kept = held.kept;
    const bool first = held.state()->finish(why);
    if (first)
        events_.lost(held);
    // A node that wasn't reached yet no longer needs to get the question.
    held.granted_by().abandon();
    // Keys expire soon after the deadline, unless an extension has reached some nodes.
    const bool stay = !held.extension_tried || held.state()->keys_after() == core::key_fate::left;
    if (first && !stay && life_.connected() && held.begin_release())
        release(held);
    remove(held);
}

void holds::revoke(hold& held)
{
    const core::instant now = loop_.now();
    const auto kept = held.kept;
    if (!kept || !held.state()->revoke(now))
        return;
    held.extended_by = milliseconds(0);
    held.may_be_taken_again = false;
    put_again(held, now);
    for (suspension& waiting : held.lost_waiting)
        waiting.wake({});  // They look what has become of it.
    events_.revoked(held, now);
}

release_round_ptr holds::give_back(hold& held)
{
    const auto kept = remove(held);
    const bool stay = held.state()->keys_after() == core::key_fate::left;
    if (stay || !life_.connected() || !held.begin_release())
        return nullptr;
    events_.given_back();
    return release(held);
}

release_round_ptr holds::release(const hold& ended)
{
    round& granted_by = ended.granted_by();
    // A node that hasn't answered may still deny.
    const std::size_t denials = granted_by.tally().denied() + granted_by.tally().missing();
    const bool next_waits = rounds_.queues() && lines_.head_of(ended.name);
    const core::queue_move move = ended.queued().at_release(denials, next_waits);
    const milliseconds to_keep = ended.state()->to_keep();
    const verb extended = ended.extension_tried ? verb::finish : verb::release;
    return rounds_.release(
        granted_by,
        {.what = to_keep > 0ms ? verb::keep : extended,
         .ttl = ended.longest_ttl,
         .move = move,
         .at_least = to_keep,
         .end = ended.valid_until()}
    );
}

void holds::extend_by(hold& held, milliseconds ttl)
{
    if (!held.kept || held.extended_by >= ttl || held.revoked())
        return;
    const core::instant now = loop_.now();
    held.extended_by = ttl;
    held.schedule.granted(time_.read(now), ttl, jitter_());
    put_again(held, now);
    arm(now);
}

void holds::extend_no_more(hold& held)
{
    if (!held.kept || held.state()->leases() > 1)
        return;
    held.extended_by = milliseconds(0);
    put_again(held, loop_.now());
}

/// @param votes Nodes that have it, or may have.
void holds::set_at_risk(hold& held, std::size_t votes)
{
    const core::electorate voters = held.granted_by().voters();
    const bool is = votes < voters.size() && votes <= voters.quorum();
    if (is == held.at_risk)
        return;
    held.at_risk = is;
    at_risk_ = is ? at_risk_ + 1 : at_risk_ - 1;
    events_.set_at_risk(at_risk_);
}

void holds::on_return(const node_set& nodes)
{
    missed_ &= ~nodes;
    if (by_age_.empty() || !life_.running())
        return;
    returned_ |= nodes;
    returning_.emplace(*this);
    if (!walk_.is_linked())
        go_on();
}

void holds::go_on()
{
    const core::instant now = loop_.now();
    static_cast<void>(time_.read(now));
    for (std::size_t budget = turn::max_tasks; budget > 0; --budget)
    {
        const auto each = returning_->next();
        if (!each)
        {
            returned_.reset();
            return arm(now);
        }
        each->votes.forget(returned_);
        set_at_risk(*each, each->standing().count());
        each->lacking_since = 0ns;
        each->may_be_taken_again = !each->revoked();
        put_again(*each, now);
    }
    arm(now);
    loop_.end_of_turn->defer_to_next(walk_);
}

void holds::revoke(std::string_view resource, fencing_token token)
{
    const auto held = find(resource);
    if (held && held->fence() == token)
        revoke(*held);
}

std::shared_ptr<hold> holds::find(const hashed_name& resource) const
{
    const auto found = by_name_.find(resource);
    return found == by_name_.end() ? nullptr : found->kept;
}

void holds::catch_up()
{
    if (!holds_.empty() && holds_.begin()->look_at <= time_.read(loop_.now()))
        look();
}

holds::tour::tour(holds& through) : through_(through), next_(through.by_age_.begin())
{
    through.tours_.push_back(*this);
}

std::shared_ptr<hold> holds::tour::next()
{
    return next_ == through_.by_age_.end() ? nullptr : (next_++)->kept;
}

void holds::clear()
{
    // The client may be destroyed in any thread once all is forgotten, and its timer must not find
    // this.
    deadline::forget();
    walk_.unlink();
    if (!deferred::is_linked())
        on_turn_end();
}

void holds::on_turn_end()
{
    for (std::size_t budget = turn::max_tasks; budget > 0 && !holds_.empty(); --budget)
    {
        hold& each = *holds_.begin()->kept;
        each.interrupt();
        remove(each);
    }
    if (!holds_.empty())
        loop_.end_of_turn->defer_to_next(*this);
}

void holds::shut_down() noexcept
{
    by_name_.clear();
    while (!holds_.empty())
    {
        // The operations own leases, and thus the hold.
        const auto kept = std::move(holds_.begin()->kept);
        holds_.erase(holds_.begin());
        by_age_.erase(by_age_.iterator_to(*kept));
        for (suspension::list* waiting : {&kept->lost_waiting, &kept->extending_waits})
        {
            while (!waiting->empty())
                waiting->front().drop();
        }
    }
    while (!told_.empty())
        told_.front().drop();
}

void holds::on_deadline()
{
    look();
}

void holds::look()
{
    const core::instant now = loop_.now();
    const core::nanoseconds time = time_.read(now);
    // The rest follows as soon as other handlers of the loop have run.
    std::size_t budget = turn::max_tasks;
    for (; budget > 0 && !holds_.empty() && holds_.begin()->look_at <= time; --budget)
        look_at(*holds_.begin()->kept, now);
    arm(now);
}

void holds::look_at(hold& due, core::instant now)
{
    if (due.over_at(now))
        return lose(due, due.end_at_deadline());
    // An observer may end it.
    const auto kept = due.kept;
    if (extension_due(due) <= time_.read(now))
        extend_soon(due);
    if (due.kept)
        put_again(due, now);
}

core::nanoseconds holds::extension_due(const hold& held) const noexcept
{
    if (held.extending || !life_.running())
        return core::nanoseconds::max();
    if (held.may_be_taken_again)
        return core::nanoseconds(0);
    if (held.extended_by == 0ms || held.at_limit)
        return core::nanoseconds::max();
    const auto tick = std::min(longest_tick, core::to_nanoseconds(held.extended_by) / 100);
    return rounded_up(held.schedule.due(), tick);
}

void holds::put_in(hold& held, core::instant now)
{
    const core::nanoseconds end = time_.read(now) + core::remaining(now, held.valid_until());
    held.look_at = std::min(end, extension_due(held));
    holds_.insert(held);
}

void holds::put_again(hold& held, core::instant now)
{
    holds_.erase(holds_.iterator_to(held));
    put_in(held, now);
}

void holds::arm(core::instant now)
{
    if (holds_.empty())
        return;
    // Timers understand the other clock.
    const core::nanoseconds pause = holds_.begin()->look_at - time_.read(now);
    const time_point next = core::shifted(now, std::min(pause, longest_sleep)).steady;
    if (deadline::is_linked() && due() <= next + timer_slack)
        return;
    deadline::forget();
    loop_.timer->add(*this, next);
}

void holds::extend_soon(hold& due)
{
    due.extending = true;
    const bool is_due =
        due.extended_by > 0ms && !due.at_limit && due.schedule.due() <= time_.read(loop_.now());
    if (extensions_.closed() && is_due)
        tell_of_the_absent(due);
    // An observer may have ended it.
    if (due.kept)
        due.wait_for_extension(extensions_);
}

/// Nothing is sent without a quorum of ready nodes. It's a failed extension anyway.
void holds::tell_of_the_absent(hold& due)
{
    const auto asked = rounds_.ask_the_absent(due.granted_by().attempt());
    const error_code ec = asked->outcome();
    due.note_extension(ec);
    events_.extended(due, ec, loop_.now());
}

/// Here, because hold.cpp doesn't include this class.
void hold::on_admitted(room taken)
{
    kept_by->start_extension(kept, std::move(taken));
}

void holds::start_extension(const std::shared_ptr<hold>& next, room taken)
{
    using handler = asio::any_completion_handler<void(error_code)>;

    const bool again = std::exchange(next->may_be_taken_again, false);
    const core::instant asked = loop_.now();
    if (next->extended_by > 0ms && !next->at_limit)
    {
        auto done = [this, next, asked, again](error_code outcome) {
            // It may still be taken again, up to its deadline.
            if (outcome == error::hold_limit_reached && next->kept)
                next->may_be_taken_again |= again && !next->revoked();
            on_extended(*next, asked, outcome);
        };
        auto body = extend(next, next->extended_by, std::move(taken));
        return carry_out(std::move(body), handler(std::move(done)), nullptr).start();
    }
    if (!again)  // Since it waits.
    {
        next->extending = false;
        return;
    }
    auto done = [this, next](error_code) {
        next->extending = false;
        if (!next->kept)
            return;
        const core::instant now = loop_.now();
        static_cast<void>(time_.read(now));
        put_again(*next, now);
        arm(now);
    };
    carry_out(take_again(next, std::move(taken)), handler(std::move(done)), nullptr).start();
}

void holds::on_extended(hold& held, core::instant asked, error_code outcome)
{
    held.extending = false;
    held.at_limit = outcome == error::hold_limit_reached;
    if (held.kept)
    {
        const core::instant now = loop_.now();
        static_cast<void>(time_.read(now));
        const auto remaining = core::remaining(now, held.valid_until());
        if (outcome)
            held.schedule.failed(time_.read(now), remaining, jitter_());
        else
            held.schedule.granted(time_.at(asked), held.extended_by, jitter_());
        put_again(held, now);
        arm(now);
    }
}

}  // namespace redlock::detail
