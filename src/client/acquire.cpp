#include "client/operations.hpp"
#include "core/holder_estimate.hpp"
#include "core/limits.hpp"
#include "core/quorum.hpp"
#include "core/validity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

/// What a round that granted nothing tells the caller.
error_code to_error(core::verdict verdict) noexcept
{
    switch (verdict)
    {
    case core::verdict::contended: return error::contended;
    case core::verdict::rejected: return error::node_rejected;
    case core::verdict::unreachable: return error::quorum_unreachable;
    case core::verdict::too_late: return error::validity_exhausted;
    case core::verdict::undecided:
    case core::verdict::granted: break;
    }
    return {};
}

/// How long until the holders' keys have expired on enough nodes, as far as they told.
std::optional<milliseconds> free_after(const round& lost, const round& holders)
{
    std::vector<milliseconds> held_for;
    for (std::size_t node = 0; node < holders.node_count(); ++node)
    {
        if (const auto left = holders.details_of(node).held_for)
            held_for.push_back(*left);
    }
    const std::size_t quorum = core::quorum_size(lost.node_count());
    const std::size_t granted = std::min(lost.tally().granted(), quorum);
    return core::free_after(std::move(held_for), quorum - granted);
}

/// One round and what follows from it.
struct attempt_result
{
    error_code outcome;                    ///< Empty: granted.
    std::shared_ptr<hold> held;            ///< Only if granted.
    std::optional<milliseconds> free_after;  ///< When the holder is expected to be gone.
    bool interrupted = false;              ///< Cancelled: there is no next round.
};

task<attempt_result> try_once(
    std::shared_ptr<client_impl> self,
    const std::string& resource,
    const acquire_options& options,
    std::size_t rounds,
    bool last
)
{
    // A fresh id for every round: a delayed release of the last one must not match this one.
    const auto asked = self->ask(
        verb::acquire, self->new_attempt(resource), options.ttl, options.report != nullptr
    );
    const error_code interrupted = co_await self->decided(*asked);

    // The clock is read after the wait: replies that queued up while this process was stopped must
    // not make a lease that has already expired.
    const core::instant now = self->now();
    const core::instant valid_until =
        core::valid_until(asked->started(), options.ttl, self->config().clock_drift);
    const core::verdict verdict = asked->tally().at(now, valid_until);
    self->note_duration(*asked, now);

    attempt_result result{interrupted, nullptr, std::nullopt, interrupted.failed()};
    if (!interrupted)
        result.outcome = to_error(verdict);
    if (!result.outcome)
    {
        result.held = std::make_shared<hold>(self, options, asked, valid_until);
    }
    else
    {
        // A lost round can leave our key on a minority of nodes and on every node that timed out.
        // Undo it before waiting, or others queue behind a resource that nobody holds.
        self->release(*asked);
    }

    std::shared_ptr<round> holders;
    if (verdict == core::verdict::contended && !interrupted && (!last || options.report))
    {
        holders = self->ask_holders(*asked);
        result.interrupted = (co_await self->decided(*holders)).failed();
        result.free_after = free_after(*asked, *holders);
    }
    if (options.report)
    {
        self->write_report(*options.report, *asked, holders.get());
        options.report->rounds = rounds;
    }
    co_return result;
}

/// Repeats rounds until one grants, `give_up` has passed or the operation is cancelled.
task<result<lease>> acquire_until(
    std::shared_ptr<client_impl> self,
    std::string resource,
    acquire_options options,
    bool once
)
{
    if (!core::valid_resource(resource) ||
        !core::valid_options(options, self->config().node_timeout))
        co_return error::invalid_argument;
    if (options.report)
        *options.report = {};

    const time_point give_up = core::shifted(self->now(), options.wait).steady;
    if (const error_code ec = co_await self->until_running(give_up))
        co_return ec;

    core::backoff delays(self->first_delay(), self->config().retry.max_delay);
    for (std::size_t rounds = 1;; ++rounds)
    {
        auto outcome = co_await try_once(self, resource, options, rounds, once);
        if (outcome.held)
            co_return hold::make_lease(std::move(outcome.held));
        if (outcome.interrupted)
            co_return asio::error::operation_aborted;

        core::nanoseconds delay = delays.next(random_bits());
        if (outcome.free_after)
        {
            // Not before the keys are gone (a ttl ends up to 1 ms after its count says 0), and all
            // waiters not at the same instant: so it only caps the delay, and with some jitter.
            const auto gone = core::to_nanoseconds(*outcome.free_after) + milliseconds(2);
            delay = std::min(delay, gone + delay / 8);
        }
        const time_point next = core::shifted(self->now(), delay).steady;
        if (once || next >= give_up)
            co_return outcome.outcome;
        if (const error_code ec = co_await self->sleep_until(next))
            co_return ec;
    }
}

}  // namespace

task<result<lease>> acquire(
    std::shared_ptr<client_impl> self,
    std::string resource,
    acquire_options options
)
{
    const bool once = options.wait == milliseconds(0);
    return acquire_until(std::move(self), std::move(resource), options, once);
}

task<result<lease>> try_acquire(
    std::shared_ptr<client_impl> self,
    std::string resource,
    acquire_options options
)
{
    options.wait = milliseconds(0);
    auto outcome = co_await acquire_until(std::move(self), std::move(resource), options, true);
    if (!outcome && outcome.error() == error::contended)
        co_return lease();
    co_return outcome;
}

}  // namespace redlock::detail
