#include "client/monitor.hpp"

#include <redlock/client.hpp>

#include <algorithm>
#include <chrono>

namespace redlock::detail {

namespace {

std::chrono::microseconds microseconds_of(core::nanoseconds duration) noexcept
{
    return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace

void monitor::round_ended(const vote_round& asked, error_code outcome, core::instant now) noexcept
{
    add(rounds_);
    if (asked.what() == verb::acquire)
    {
        add(acquire_rounds_);
        if (outcome == error::quorum_unreachable || outcome == error::validity_exhausted)
            add(rounds_lost_);
    }
    if (!observer_)
        return;
    observer_->on_round({
        asked.about()->of->resource(),
        asked.what() == verb::extend,
        outcome,
        asked.tally().granted(),
        asked.node_count(),
        microseconds_of(now.steady - asked.started().steady),
    });
}

void monitor::waiting(const waiter& who) noexcept
{
    if (!observer_)
        return;
    const waiting_place at = who.place();
    observer_->on_waiting({who.resource(), at.position, at.length});
}

void monitor::acquired(const lease& held, std::size_t rounds, core::nanoseconds waited) noexcept
{
    add(acquired_);
    const auto bound = std::ranges::lower_bound(metrics::wait_bounds, waited);
    add(waits_[static_cast<std::size_t>(bound - metrics::wait_bounds.begin())]);
    if (observer_)
        observer_->on_acquired({held.resource(), held.fence(), rounds, microseconds_of(waited)});
}

void monitor::not_acquired(
    std::string_view resource,
    error_code outcome,
    std::size_t rounds,
    core::instant started
) noexcept
{
    const bool contended = outcome == error::contended;
    add(contended ? contended_ : failed_);
    if (!observer_)
        return;
    const auto waited = time_since(started);
    if (contended)
        observer_->on_contended({resource, rounds, waited});
    else
        observer_->on_failed({resource, outcome, rounds, waited});
}

void monitor::extended(const hold& held, error_code outcome, core::instant now) noexcept
{
    add(outcome ? extensions_failed_ : extended_);
    if (!observer_)
        return;
    const auto left = std::max(core::remaining(now, held.valid_until()), core::nanoseconds(0));
    observer_->on_extended({held.resource(), outcome, std::chrono::floor<milliseconds>(left)});
}

void monitor::lost(const hold& held) noexcept
{
    add(lost_);
    if (observer_)
        observer_->on_lost({held.resource(), held.fence(), held.loss(), held.last_extension()});
}

void monitor::released(const hold& held, release_outcome outcome) noexcept
{
    if (observer_)
        observer_->on_released({held.resource(), outcome});
}

void monitor::node_changed(const node_status& status) noexcept
{
    if (observer_)
        observer_->on_node_state(status);
}

std::chrono::microseconds monitor::time_since(core::instant started) const noexcept
{
    return microseconds_of(time_->now().steady - started.steady);
}

metrics monitor::read() const noexcept
{
    const auto value = [](const counter& from) { return from.load(std::memory_order_relaxed); };
    metrics result;
    result.rounds = value(rounds_);
    result.acquired = value(acquired_);
    result.contended = value(contended_);
    result.failed = value(failed_);
    result.extended = value(extended_);
    result.extensions_failed = value(extensions_failed_);
    result.lost = value(lost_);
    result.released = value(released_);
    result.held = value(held_);
    result.acquire_rounds = value(acquire_rounds_);
    result.rounds_lost = value(rounds_lost_);
    result.woken = value(woken_);
    std::ranges::transform(waits_, result.waits.begin(), value);
    return result;
}

}  // namespace redlock::detail
