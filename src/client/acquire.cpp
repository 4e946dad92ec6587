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
error_code to_error(core::verdict verdict, const round& lost) noexcept
{
    switch (verdict)
    {
    case core::verdict::contended: return error::contended;
    case core::verdict::rejected: return lost.why_refused();
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

/// When to ask again, after a round that was lost at `now`.
time_point next_round(
    core::instant now,
    core::nanoseconds delay,
    std::optional<milliseconds> free_after,
    time_point give_up
)
{
    if (free_after)
    {
        // As soon as the keys are gone (a ttl ends up to 1 ms after its count says 0), and not all
        // waiters at the same instant: so it only caps the delay, and with some jitter.
        // A key without a ttl is as good as one that lives for the longest.
        const milliseconds left = std::min(*free_after, core::max_ttl);
        const auto gone = core::to_nanoseconds(left) + milliseconds(2);
        delay = std::min(delay, gone + delay / 8);
    }
    // Not beyond the end of the wait: there is one last round then.
    return std::min(core::shifted(now, delay).steady, give_up);
}

bool is_valid(
    const client_impl& client,
    const std::string& resource,
    const acquire_options& options
)
{
    const client_config& config = client.config();
    if (client.guarded() && !core::valid_guarded_key(config.key_prefix, resource))
        return false;
    return core::valid_resource(resource) &&
           core::valid_options(options, config.node_timeout, client.highest_ttl());
}

/// What a round is worth.
struct judgement
{
    core::verdict verdict;
    core::instant valid_until;
};

/// The clock is read here, after the wait: replies that queued up while this process was stopped
/// must not make a lease that has already expired.
judgement judge(client_impl& client, const round& asked, milliseconds ttl)
{
    const core::instant now = client.now();
    const core::instant valid_until =
        core::valid_until(asked.started(), ttl, client.config().clock_drift);
    client.note_duration(asked, now);
    return {asked.tally().at(now, valid_until), valid_until};
}

/// Repeats rounds until one grants, `give_up` has passed or the operation is cancelled.
task<result<lease>> acquire_until(
    std::shared_ptr<client_impl> self,
    std::string resource,
    acquire_options options,
    bool once
)
{
    if (!is_valid(*self, resource, options))
        co_return error::invalid_argument;
    if (options.report)
        *options.report = {};

    const time_point give_up = core::shifted(self->now(), options.wait).steady;
    if (!self->running())
    {
        if (const error_code ec = co_await self->until_running(give_up))
            co_return ec;
    }

    core::backoff delays(self->first_delay(), self->config().retry.max_delay);
    fencing_token above;
    bool corrected = false;
    for (std::size_t rounds = 1;; ++rounds)
    {
        // Fences that were told are worth one round: later the time has passed them.
        above = std::max(corrected ? above : fencing_token(), options.fence_at_least);
        // A fresh id for every round: a delayed release of the last one must not match this one.
        const auto asked = self->ask(
            verb::acquire,
            self->new_attempt(resource, above),
            options.ttl,
            options.report != nullptr
        );
        error_code interrupted = co_await self->decided(*asked);
        if (!self->running())
            interrupted = asio::error::operation_aborted;

        const auto [verdict, valid_until] = judge(*self, *asked, options.ttl);
        const bool granted = !interrupted && verdict == core::verdict::granted;

        // A lost round can leave our key on a minority of nodes and on every node that timed out.
        // Undo it before waiting, or others queue behind a resource that nobody holds.
        if (!granted)
            self->release(*asked, options.ttl);

        // A client whose clock or whose idea of the last token was wrong knows better now. That is
        // no reason to wait, or to give up a single try; but only once in a row, for somebody who
        // acquires just now raises the fence as well.
        corrected = !granted && self->correct_stamp(*asked, above) && !corrected;

        std::shared_ptr<round> holders;
        if (!interrupted && !corrected && !asked->guarded() &&
            verdict == core::verdict::contended && (!once || options.report))
        {
            holders = self->ask_holders(*asked);
            interrupted = co_await self->decided(*holders);
        }
        if (options.report)
            self->write_report(*options.report, rounds, *asked, holders.get());
        if (granted)
            co_return hold::make_lease(std::make_shared<hold>(self, options, asked, valid_until));
        if (interrupted)
            co_return interrupted;

        if (corrected)
            continue;
        const auto lost_at = self->now();
        if (once || lost_at.steady >= give_up)
            co_return to_error(verdict, *asked);
        // The guarded script says with its denial how long the holder has left.
        const auto free = free_after(*asked, holders ? *holders : *asked);
        const auto next = next_round(lost_at, delays.next(random_bits()), free, give_up);
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
