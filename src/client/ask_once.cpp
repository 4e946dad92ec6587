#include "client/acquisition.hpp"
#include "client/operations.hpp"
#include "core/validity.hpp"
#include "loop/recycling.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

/// One round of an acquisition: its place among those under way, its votes and what they mean.
namespace redlock::detail {

namespace asio = boost::asio;

/// What a round is worth. Has linkage, like the coroutine frame that keeps it.
struct judgement
{
    core::instant now;  ///< When it was judged.
    core::verdict verdict;
    core::instant valid_until;
};

namespace {

/// Why the nodes that are away make a quorum impossible. Nothing is sent.
error_code tell_of_the_absent(const acquisition& acquiring)
{
    rounds& asking = acquiring.client->rounds;
    const auto asked = asking.ask_the_absent(asking.new_attempt(acquiring.wanted, {}));
    if (acquiring.report())
        asking.write_report(*acquiring.report(), acquiring.rounds, *asked, nullptr);
    return asked->outcome();
}

/// Says that it found no place.
void tell_of_overload(const acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    std::string problem = "this client has as many rounds under way as the nodes answer in time (" +
                          std::to_string(client.acquisitions.places()) +
                          "), and others are waiting for a place";
    client.events.overload(acquiring.wanted->resource(), problem);
    if (diagnostics* const report = acquiring.report())
    {
        // What the nodes said to an earlier round isn't the reason.
        *report = {};
        report->rounds = acquiring.rounds;
        report->problem = std::move(problem);
    }
}

/// Waits for a place among the rounds under way.
/// @param taken The place. Empty if no quorum of nodes is ready: then a try asks them anyway.
task<error_code> until_placed(acquisition& acquiring, std::optional<place>& taken)
{
    client_impl& client = *acquiring.client;
    window& places = client.acquisitions;
    if (acquiring.wanted->once() && places.closed())
        co_return error_code();
    acquiring.tell_waiting();
    const time_point end = acquiring.end_of_places();
    const bool woken = acquiring.in_line.woken();
    place_wait waits(*client.loop.end_of_turn);
    places.wait(
        waits,
        acquiring.started.steady.time_since_epoch(),
        woken ? window::order::first : window::order::by_rank
    );
    if (const error_code interrupted = co_await client.life.sleep_until(waits.sleep, end))
        co_return interrupted;
    if (!client.life.running())
        co_return asio::error::operation_aborted;
    if (taken.emplace(waits.take()))
        co_return error_code();
    if (places.closed())
        co_return tell_of_the_absent(acquiring);
    tell_of_overload(acquiring);
    co_return error::overloaded;
}

/// Puts the next round to the nodes.
round_ptr start_round(acquisition& acquiring, place taken)
{
    client_impl& client = *acquiring.client;
    const acquire_options& options = acquiring.options();
    ++acquiring.rounds;
    acquiring.in_line.forget_wakes();
    // Reported fences matter for one round only: after that the time has passed them.
    acquiring.above =
        std::max(acquiring.corrected ? acquiring.above : fencing_token(), options.fence_at_least);
    // A fresh id for every round: a delayed release of the last one must not match this one.
    const auto tried = client.rounds.new_attempt(acquiring.wanted, acquiring.above);
    const queue_entry entry = acquiring.queue.entry(tried->token);
    auto made = client.rounds.make<round>(
        {.what = verb::acquire, .attempt = tried, .ttl = options.ttl + options.grace, .entry = entry
        }
    );
    made->occupy(std::move(taken));
    if (options.report)
        made->time_answers(*client.loop.time);
    // A lease should have half of its ttl left.
    const auto longest = core::shifted(made->started(), options.ttl / 2).steady;
    if (!acquiring.wanted->once())
        made->be_patient(*client.loop.timer, std::min(acquiring.give_up, longest));
    client.rounds.put_to_all(made);
    return made;
}

/// The clock is read here, after the wait: replies that queued up while this process was stopped
/// must not make a lease that has already expired.
judgement judge(
    client_impl& client,
    const round& asked,
    const acquire_options& options,
    error_code interrupted
)
{
    const core::instant now = client.now();
    const core::instant valid_until =
        core::valid_until(asked.started(), options.ttl, client.config.clock_drift, options.grace);
    client.rounds.note_duration(asked, now);
    const core::verdict verdict = asked.tally().at(now, valid_until);
    const bool lost = verdict == core::verdict::unreachable || verdict == core::verdict::too_late;
    if (!interrupted)
        client.acquisitions.on_round(asked.started().steady, now.steady, !lost);
    client.events.round_ended(asked, interrupted ? interrupted : asked.outcome(verdict), now);
    return {now, verdict, valid_until};
}

/// Makes a lease of what `asked` was granted.
void take_lease(acquisition& acquiring, const round& asked, const judgement& judged)
{
    auto held =
        make_recycled<hold>(acquiring.client, asked, acquiring.queue.place(), judged.valid_until);
    // As of the start: if the process has stood still since the verdict, this is an expired lease,
    // not a missing one.
    acquiring.granted =
        share::make_lease(share::join(held, acquiring.options().ttl, asked.started()));
    acquiring.client->holds.add(std::move(held), asked.started(), judged.now);
    acquiring.granted_at = judged.now;
    acquiring.in_line.leave_to_hold();
}

/** Learns from a lost round.

    A client whose clock or last known token was wrong knows better now, so it needn't wait or give
    up a single try. But only once in a row, because another client that is acquiring now raises the
    fence too.
*/
void correct(acquisition& acquiring, const round& lost)
{
    const bool may_win = acquiring.client->rounds.times().correct(lost, acquiring.above);
    acquiring.corrected = may_win && !acquiring.corrected;
}

/// Whether to ask the holders' nodes how long to wait. A guarded denial has already said it.
bool wants_holders(const acquisition& acquiring, const round& lost, core::verdict verdict)
{
    const bool matters = !acquiring.wanted->once() || acquiring.report();
    return matters && !acquiring.corrected && !lost.guarded() &&
           verdict == core::verdict::contended;
}

}  // namespace

task<error_code> ask_once(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    std::optional<place> taken;
    // A corrected round has just given up its place, but keeps it anyway.
    if (acquiring.corrected || client.acquisitions.has_room())
        taken.emplace(client.acquisitions);
    else if (const error_code ec = co_await until_placed(acquiring, taken))
        co_return ec;
    const auto asked = start_round(acquiring, taken ? std::move(*taken) : place());
    error_code interrupted = co_await client.life.until_decided(*asked);
    if (!client.life.running())
        interrupted = asio::error::operation_aborted;

    const judgement judged = judge(client, *asked, acquiring.options(), interrupted);
    const bool granted = !interrupted && judged.verdict == core::verdict::granted;
    round_ptr holders;
    if (granted)
    {
        acquiring.corrected = false;
        take_lease(acquiring, *asked, judged);
    }
    else
    {
        // A lost round can leave our key on a minority of nodes and on every node that timed out.
        // Undo that before waiting, or others queue for a resource that nobody holds.
        const std::shared_ptr<rounds> kept(acquiring.client, &client.rounds);
        client.rounds.undo(*asked, acquiring.queue.place().in_round(), kept);
        client.watchers.on_change(acquiring.wanted->resource());
        if (!interrupted && client.rounds.times().lacks_times(*asked))
            interrupted = co_await client.rounds.until_time_is_told(*asked, client.life);
        correct(acquiring, *asked);
        if (!interrupted && wants_holders(acquiring, *asked, judged.verdict))
        {
            holders =
                client.rounds.make<round>({.what = verb::holder, .attempt = asked->attempt()});
            client.rounds.put_to(asked->deniers(), holders);
            interrupted = co_await client.life.until_decided(*holders);
        }
        acquiring.queue.lose_round(*asked, holders.get());
    }
    if (acquiring.report())
        client.rounds.write_report(*acquiring.report(), acquiring.rounds, *asked, holders.get());
    co_return interrupted ? interrupted : asked->outcome(judged.verdict);
}

}  // namespace redlock::detail
