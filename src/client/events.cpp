#include "client/events.hpp"

#include <redlock/lease.hpp>

#include "core/one_line.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::detail {

namespace {

std::chrono::microseconds microseconds_of(core::nanoseconds duration) noexcept
{
    return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

milliseconds time_left(const hold& held, core::instant now) noexcept
{
    const auto left = std::max(core::remaining(now, held.valid_until()), core::nanoseconds(0));
    return std::chrono::floor<milliseconds>(left);
}

/// Time between two log lines that say the same about many acquisitions.
constexpr std::chrono::seconds time_between_lines{10};

}  // namespace

void events::round_ended(const round& asked, error_code outcome, core::instant now) noexcept
{
    add(rounds_);
    if (asked.what() == verb::acquire)
    {
        add(acquire_rounds_);
        if (outcome == error::quorum_unreachable || outcome == error::validity_exhausted ||
            outcome == error::overloaded)
            add(rounds_lost_);
    }
    if (!config_.observer)
        return;
    config_.observer->on_round({
        asked.attempt()->of->resource(),
        asked.what() == verb::extend,
        outcome,
        asked.tally().granted(),
        asked.voters().size(),
        microseconds_of(now.steady - asked.started().steady),
    });
}

void events::waiting(const waiter& who) noexcept
{
    if (!config_.observer)
        return;
    const line_position at = who.position();
    config_.observer->on_waiting({who.resource(), at.position, at.length});
}

void events::acquired(const lease& held, std::size_t rounds, core::nanoseconds waited) noexcept
{
    add(acquired_);
    const auto bound = std::ranges::lower_bound(metrics::wait_bounds, waited);
    add(waits_[static_cast<std::size_t>(bound - metrics::wait_bounds.begin())]);
    if (config_.observer)
        config_.observer->on_acquired(
            {held.resource(), held.fence(), rounds, microseconds_of(waited)}
        );
}

void events::not_acquired(
    std::string_view resource,
    error_code outcome,
    std::size_t rounds,
    core::instant started
) noexcept
{
    const bool contended = outcome == error::contended;
    add(contended ? contended_ : failed_);
    if (!config_.observer)
        return;
    const auto waited = time_since(started);
    if (contended)
        config_.observer->on_contended({resource, rounds, waited});
    else
        config_.observer->on_failed({resource, outcome, rounds, waited});
}

void events::extended(const hold& held, error_code outcome, core::instant now) noexcept
{
    add(outcome ? extensions_failed_ : extended_);
    if (!config_.observer)
        return;
    config_.observer->on_extended(
        {held.resource(), outcome, time_left(held, now), held.standing().count()}
    );
}

void events::lost(const hold& held) noexcept
{
    add(lost_);
    if (config_.observer)
        config_.observer->on_lost(
            {held.resource(), held.fence(), held.loss(), held.last_extension()}
        );
}

void events::revoked(const hold& held, core::instant now) noexcept
{
    add(revoked_);
    if (config_.observer)
        config_.observer->on_revoked({held.resource(), held.fence(), time_left(held, now)});
}

void events::released(const hold& held, release_outcome outcome) noexcept
{
    if (config_.observer)
        config_.observer->on_released({held.resource(), outcome});
}

void events::node_changed(const node_status& status) noexcept
{
    if (config_.observer)
        config_.observer->on_node_state(status);
}

void events::problem(
    log_level level,
    std::string_view operation,
    std::string_view resource,
    std::string_view what
) const
{
    std::string line(operation);
    line.append(" of '").append(resource).append("': ").append(what);
    tell(level, std::move(line));
}

void events::overload(std::string_view resource, std::string_view what)
{
    const time_point now = loop_.now().steady;
    if (now < next_overload_line_)
        return;
    next_overload_line_ = now + time_between_lines;
    problem(log_level::warning, "acquire", resource, what);
}

void events::tell(log_level level, std::string line) const
{
    if (config_.log)
        config_.log(level, core::on_one_line(std::move(line)));
}

std::chrono::microseconds events::time_since(core::instant started) const noexcept
{
    return microseconds_of(loop_.now().steady - started.steady);
}

metrics events::read() const noexcept
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
    result.revoked = value(revoked_);
    result.released = value(released_);
    result.held = value(held_);
    result.at_risk = value(at_risk_);
    result.acquire_rounds = value(acquire_rounds_);
    result.rounds_lost = value(rounds_lost_);
    result.woken = value(woken_);
    std::ranges::transform(waits_, result.waits.begin(), value);
    return result;
}

}  // namespace redlock::detail
