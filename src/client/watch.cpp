#include "client/watch.hpp"

#include "client/attempt_ids.hpp"
#include "client/client_impl.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// Timers stand still while the machine is suspended. So both clocks are compared this often.
constexpr core::nanoseconds longest_sleep = 500ms;

/// Clocks that are read one after the other differ by less.
constexpr core::nanoseconds shortest_suspension = 1ms;

/// Extensions that are due within such a time are sent together.
constexpr core::nanoseconds longest_tick = 10ms;

/// So many extensions are under way at a time. They are as many commands on every connection, and
/// leave room there for those of others.
constexpr std::size_t max_extending = 1024;

/// How long the machine was suspended meanwhile.
core::nanoseconds suspended_between(core::instant then, core::instant now) noexcept
{
    return (now.boot - then.boot) - (now.steady - then.steady);
}

/// A quorum granted at `now` what was asked for at `asked`.
void schedule_next(hold& held, core::instant asked, core::instant now, std::uint64_t draw) noexcept
{
    held.schedule.granted(asked.steady, held.extended_by(), draw);
    held.schedule.suspended(suspended_between(asked, now));
}

/// The first multiple of `tick` that is not before `at`.
time_point rounded_up(time_point at, core::nanoseconds tick) noexcept
{
    const auto past = at.time_since_epoch() % tick;
    return past == core::nanoseconds(0) ? at : at + (tick - past);
}

}  // namespace

watch::watch(client_impl& client, std::shared_ptr<deadlines> timer)
    : client_(client), timer_(std::move(timer)), jitter_(random_bits())
{
}

void watch::add(std::shared_ptr<hold> granted, core::instant asked, core::instant now)
{
    // What may throw comes first: a hold is watched, or it is not.
    if (holds_.empty())
        suspended_ = now.boot - now.steady.time_since_epoch();
    else
        notice_suspension(now);
    schedule_next(*granted, asked, now, jitter_());
    if (granted->owner() != owner::none)
    {
        // There may be one already, whose keys have vanished. The new entry must not go by the
        // name that it has: that is gone with it.
        const resource_of_owner name{granted->owner(), granted->resource()};
        by_owner_.erase(name);
        by_owner_.emplace(name, granted.get());
    }
    hold& held = *granted;
    held.kept = std::move(granted);
    put_in(held, now);
    client_.events().set_held(holds_.size());
    arm(now);
}

std::shared_ptr<hold> watch::remove(hold& over)
{
    for (suspension& waiting : over.lost_waiting)
        waiting.wake_first({});
    // The hold may be found here no longer, and the end of the context must find these.
    told_.splice(told_.end(), over.lost_waiting);
    if (!over.kept)
        return nullptr;
    const auto found = by_owner_.find({over.owner(), over.resource()});
    if (found != by_owner_.end() && found->second == &over)
        by_owner_.erase(found);
    holds_.erase(holds_.iterator_to(over));
    client_.events().set_held(holds_.size());
    client_.waiting_for().on_hold_end(over.resource());
    client_.note_end();
    return std::move(over.kept);
}

void watch::extend_by(hold& held, milliseconds ttl)
{
    if (!held.kept || held.extended_by() >= ttl)
        return;
    const core::instant now = client_.now();
    notice_suspension(now);
    held.extend_by(ttl);
    schedule_next(held, now, now, jitter_());
    put_again(held, now);
    arm(now);
}

std::shared_ptr<hold> watch::find(owner who, std::string_view resource) const
{
    const auto found = by_owner_.find({who, resource});
    return found == by_owner_.end() ? nullptr : found->second->kept;
}

void watch::catch_up()
{
    if (!holds_.empty() && holds_.begin()->look_at <= client_.now().steady)
        look();
}

std::vector<std::shared_ptr<hold>> watch::all() const
{
    std::vector<std::shared_ptr<hold>> result;
    result.reserve(holds_.size());
    for (const watched& each : holds_)
        result.push_back(each.kept);
    return result;
}

void watch::clear()
{
    to_extend_.clear();
    for (const auto& each : all())
    {
        for (suspension& waiting : each->lost_waiting)
            waiting.wake(asio::error::operation_aborted);
        remove(*each);
    }
    // The client may be destroyed in any thread now, and its timer must not find this.
    deadline::forget();
}

void watch::shut_down() noexcept
{
    to_extend_.clear();
    while (!holds_.empty())
    {
        // The operations own leases, and so the hold.
        const auto kept = std::move(holds_.begin()->kept);
        holds_.erase(holds_.begin());
        while (!kept->lost_waiting.empty())
            kept->lost_waiting.front().drop();
    }
    while (!told_.empty())
        told_.front().drop();
    by_owner_.clear();
}

void watch::on_deadline()
{
    look();
}

void watch::look()
{
    const core::instant now = client_.now();
    notice_suspension(now);
    while (!holds_.empty() && holds_.begin()->look_at <= now.steady)
        look_at(*holds_.begin()->kept, now);
    start_extensions();
    arm(now);
}

void watch::look_at(hold& due, core::instant now)
{
    if (due.over_at(now))
        return client_.lose(due, due.at_limit ? error::hold_limit_reached : error::lease_lost);
    if (extension_due(due) <= now.steady)
        extend_soon(due);
    put_again(due, now);
}

time_point watch::extension_due(const hold& held) const noexcept
{
    if (held.extended_by() == 0ms || held.extending || held.at_limit || !client_.running())
        return time_point::max();
    const auto tick = std::min(longest_tick, core::to_nanoseconds(held.extended_by()) / 100);
    return rounded_up(held.schedule.due(), tick);
}

void watch::put_in(hold& held, core::instant now)
{
    // The end on the clock that gets there first, as a time of the one that timers understand.
    const time_point end = now.steady + core::remaining(now, held.valid_until());
    held.look_at = std::min(end, extension_due(held));
    holds_.insert(held);
}

void watch::put_again(hold& held, core::instant now)
{
    holds_.erase(holds_.iterator_to(held));
    put_in(held, now);
}

void watch::arm(core::instant now)
{
    if (holds_.empty())
        return;
    const time_point next =
        std::min(holds_.begin()->look_at, core::shifted(now, longest_sleep).steady);
    if (is_linked() && due() <= next)
        return;
    deadline::forget();
    timer_->add(*this, next);
}

void watch::notice_suspension(core::instant now)
{
    const core::nanoseconds before = suspended_;
    suspended_ = now.boot - now.steady.time_since_epoch();
    if (suspended_ - before < shortest_suspension)
        return;
    for (const auto& each : all())
    {
        each->schedule.suspended(suspended_ - before);
        put_again(*each, now);
    }
}

void watch::extend_soon(hold& due)
{
    due.extending = true;
    to_extend_.push_back(due.kept);
}

void watch::start_extensions()
{
    // One that fails at once comes back in here.
    if (std::exchange(starting_, true))
        return;
    while (extending_ < max_extending && !to_extend_.empty())
    {
        const auto next = std::move(to_extend_.front());
        to_extend_.pop_front();
        if (next->kept)  // Not over meanwhile.
            start_extension(next);
    }
    starting_ = false;
}

void watch::start_extension(const std::shared_ptr<hold>& next)
{
    using handler = asio::any_completion_handler<void(error_code)>;

    ++extending_;
    const core::instant asked = client_.now();
    auto done = [next, asked](error_code outcome) {
        next->client()->held().on_extended(*next, asked, outcome);
    };
    try
    {
        carry_out(extend(next, next->extended_by()), handler(std::move(done)), nullptr).start();
    }
    catch (const std::bad_alloc&)
    {
        // It was not started, and is tried again like one that failed.
        on_extended(*next, asked, make_error_code(boost::system::errc::not_enough_memory));
    }
}

void watch::on_extended(hold& held, core::instant asked, error_code outcome)
{
    --extending_;
    held.extending = false;
    held.at_limit = outcome == error::hold_limit_reached;
    if (held.kept)
    {
        const core::instant now = client_.now();
        notice_suspension(now);
        const auto left = core::remaining(now, held.valid_until());
        if (outcome)
            held.schedule.failed(now.steady, left, jitter_());
        else
            schedule_next(held, asked, now, jitter_());
        put_again(held, now);
        arm(now);
    }
    start_extensions();
}

}  // namespace redlock::detail
