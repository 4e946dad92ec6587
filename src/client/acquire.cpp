#include <redlock/detail/recycling.hpp>

#include "client/operations.hpp"
#include "client/validate.hpp"
#include "core/backoff.hpp"
#include "core/holder_estimate.hpp"
#include "core/limits.hpp"
#include "core/quorum.hpp"
#include "core/validity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

/// How long until the holders' keys have expired on enough nodes, as far as they told.
std::optional<milliseconds> free_after(const vote_round& lost, const round& holders)
{
    std::vector<milliseconds> held_for;
    for (std::size_t node = 0; node < holders.node_count(); ++node)
    {
        const auto answer = holders.answer_of(node);
        if (answer && answer->held_for)
            held_for.push_back(*answer->held_for);
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

/// Who is first in a queue asks to be told of changes only if it is not woken within this time:
/// where holds are short, that would be as many commands as rounds.
constexpr core::nanoseconds watch_after = std::chrono::milliseconds(20);

/// By how much each one in front puts off the poll of who waits in a queue.
constexpr core::nanoseconds poll_step = std::chrono::milliseconds(2);

/// An acquisition under way.
struct acquisition
{
    acquisition(
        std::shared_ptr<client_impl> of,
        std::shared_ptr<const demand> asked_for,
        time_point now
    )
        : client(std::move(of)),
          wanted(std::move(asked_for)),
          arrived(now),
          give_up(core::shifted({now, {}}, options().wait).steady),
          in_line(*wanted, *client->loop.end_of_turn)
    {
    }

    [[nodiscard]] const acquire_options& options() const noexcept { return wanted->options; }
    [[nodiscard]] bool once() const noexcept { return wanted->once(); }

    std::shared_ptr<client_impl> client;
    std::shared_ptr<const demand> wanted;
    time_point arrived;
    time_point give_up;
    waiter in_line;

    std::size_t rounds = 0;
    bool waits = false;                        ///< The observer knows.
    fencing_token above{};                     ///< What the next token must exceed.
    bool corrected = false;                    ///< The next round may do better at once.
    std::optional<milliseconds> free_after{};  ///< As far as the last round told.
    lease granted{};
    core::instant granted_at{};

    core::queue_place queued{};             ///< In the queues of the nodes.
    std::optional<std::size_t> position{};  ///< The best that the last round told.
    std::size_t polls = 0;                  ///< Since the nodes woke it.
    bool watching = false;                  ///< The nodes will tell when the key changes, once.
    std::shared_ptr<const attempt> last{};  ///< That it asked for.
};

/// Says why nothing was sent, in the report and in the log.
void explain(const acquisition& of, std::string problem, log_level level = log_level::error)
{
    of.client->events.problem(level, "acquire", of.wanted->resource(), problem);
    if (diagnostics* const report = of.options().report)
        report->problem = std::move(problem);
}

std::string too_low_a_token(const hold& held, fencing_token wanted)
{
    return "fence_at_least is " + to_string(wanted) +
           ", must be below the token of the owner's hold, which is " + to_string(held.fence());
}

/// What a round is worth.
struct judgement
{
    core::instant now;  ///< When it was judged.
    core::verdict verdict;
    core::instant valid_until;
};

/// The clock is read here, after the wait: replies that queued up while this process was stopped
/// must not make a lease that has already expired.
judgement judge(
    client_impl& client,
    const vote_round& asked,
    milliseconds ttl,
    error_code interrupted
)
{
    const core::instant now = client.now();
    const core::instant valid_until =
        core::valid_until(asked.started(), ttl, client.config.clock_drift);
    client.rounds.note_duration(asked, now);
    const core::verdict verdict = asked.tally().at(now, valid_until);
    const bool lost = verdict == core::verdict::unreachable || verdict == core::verdict::too_late;
    if (!interrupted)
        client.acquisitions.on_round(asked.started().steady, now.steady, !lost);
    client.events.round_ended(asked, interrupted ? interrupted : asked.error_for(verdict), now);
    return {now, verdict, valid_until};
}

/// The lease of what `asked` was granted.
lease make_lease(const acquisition& of, const vote_round& asked, const judgement& judged)
{
    auto held = make_recycled<hold>(of.client, asked, of.queued, judged.valid_until);
    // As of the beginning: if the process has stood still since the verdict, this is a lease that
    // is over, and not none.
    lease made = share::make_lease(share::join(held, of.options().ttl, asked.started()));
    of.client->held.add(std::move(held), asked.started(), judged.now);
    return made;
}

/// Where a lost round has left the acquisition in the queues of the nodes.
void note_places(acquisition& of, const vote_round& asked)
{
    of.queued.lose_round();
    of.position.reset();
    for (std::size_t node = 0; node < asked.node_count(); ++node)
    {
        const auto answer = asked.answer_of(node);
        if (answer && answer->position)
            of.position = std::min(of.position.value_or(*answer->position), *answer->position);
    }
    of.last = asked.about();
}

/// Why the nodes that are away make a quorum impossible. Nothing is sent.
error_code tell_of_the_absent(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    const auto asked =
        client.rounds.ask_the_absent(client.rounds.new_attempt(acquiring.wanted, {}));
    if (diagnostics* const report = acquiring.options().report)
        client.rounds.write_report(*report, acquiring.rounds, *asked, nullptr);
    // They may have come back just now.
    const error_code ec = asked->error_for(asked->tally().by_votes());
    return ec ? ec : error::quorum_unreachable;
}

std::string too_many_rounds(const client_impl& client)
{
    return "this client has as many rounds under way as the nodes answer in time (" +
           std::to_string(client.read_metrics().window) + "), and others wait for a place";
}

/// Whether this client holds the resource itself.
bool is_held_here(const acquisition& of)
{
    const auto held = of.client->held.find(of.wanted->resource());
    return held && !held->over_at(of.client->now());
}

/// Tells the observer once that it waits, and the log if it does so for itself.
void tell_waiting(acquisition& waiting)
{
    if (std::exchange(waiting.waits, true))
        return;
    waiting.client->events.waiting(waiting.in_line);
    if (waiting.wanted->by_its_holder && is_held_here(waiting))
    {
        const std::string problem =
            "the function that asks holds it by with_lock, and waits for itself; give both the "
            "same acquire_options::owner";
        explain(waiting, problem, log_level::warning);
    }
}

/// How long it waits for a place among the rounds under way: a try as long as for an answer.
time_point end_of_places(const acquisition& of)
{
    if (!of.once())
        return of.give_up;
    return core::shifted(of.client->now(), of.client->config.node_timeout).steady;
}

/// Waits for a place among the rounds under way.
/// @param taken The place. Empty if no quorum of nodes is ready: then a try asks them all the same.
task<error_code> until_placed(acquisition& acquiring, std::optional<place>& taken)
{
    client_impl& client = *acquiring.client;
    acquisition_window& rounds = client.acquisitions;
    if (acquiring.once() && rounds.closed())
        co_return error_code();
    if (!acquiring.once())
        tell_waiting(acquiring);
    const time_point end = end_of_places(acquiring);
    const bool woken = acquiring.in_line.woken();
    acquisition_window::entrant waits(rounds, *client.loop.end_of_turn, acquiring.arrived);
    using order = acquisition_window::order;
    rounds.wait(waits, woken ? order::first : order::of_arrival);
    if (const error_code interrupted = co_await client.life.sleep_until(waits.sleep(), end))
        co_return interrupted;
    if (!client.life.running())
        co_return asio::error::operation_aborted;
    if (taken.emplace(waits.take()))
        co_return error_code();
    if (rounds.closed())
        co_return tell_of_the_absent(acquiring);
    if (diagnostics* const report = acquiring.options().report)
    {
        // What the nodes said to an earlier round is not the reason.
        *report = {};
        report->rounds = acquiring.rounds;
        report->problem = too_many_rounds(client);
    }
    client.events.overload(acquiring.wanted->resource(), too_many_rounds(client));
    co_return error::overloaded;
}

/// What a round says of the place of the acquisition in the queues of the nodes.
/// @param token Of the round. An acquisition that waits for no other one arrives with it.
queue_entry make_entry(acquisition& of, fencing_token token)
{
    if (of.queued.is_apart())
        return {};
    const std::uint64_t arrival = of.in_line.waits_since(of.queued.arrive(token.value()));
    return {of.queued.in_round(), arrival, of.client->rounds.times().own_reservation()};
}

/// Puts the next round to the nodes.
vote_round_ptr start_round(acquisition& of, place taken)
{
    client_impl& client = *of.client;
    const acquire_options& options = of.options();
    // A fresh id for every round: a delayed release of the last one must not match this one.
    const auto about = client.rounds.new_attempt(of.wanted, of.above);
    const queue_entry entry = make_entry(of, about->token);
    auto made = client.rounds.make_vote(
        {.what = verb::acquire, .about = about, .ttl = options.ttl, .entry = entry}
    );
    made->occupy(std::move(taken));
    if (options.report)
        made->time_answers(*client.loop.time);
    // Half of the ttl should be left of a lease.
    const auto longest = core::shifted(made->started(), options.ttl / 2).steady;
    if (!of.once())
        made->be_patient(*client.loop.timer, std::min(of.give_up, longest));
    client.rounds.put_to_all(made);
    return made;
}

/// Asks all nodes once. Fails with operation_aborted if it was interrupted.
task<error_code> ask_once(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    const acquire_options& options = acquiring.options();

    std::optional<place> taken;
    // A corrected round has just given its place away, and keeps it all the same.
    if (acquiring.corrected || client.acquisitions.has_room())
        taken.emplace(client.acquisitions);
    else if (const error_code ec = co_await until_placed(acquiring, taken))
        co_return ec;
    ++acquiring.rounds;
    // Fences that were told are worth one round: later the time has passed them.
    acquiring.above =
        std::max(acquiring.corrected ? acquiring.above : fencing_token(), options.fence_at_least);
    acquiring.in_line.forget_wakes();
    const auto asked = start_round(acquiring, taken ? std::move(*taken) : place());
    error_code interrupted = co_await client.life.decided(*asked);
    if (!client.life.running())
        interrupted = asio::error::operation_aborted;

    const judgement judged = judge(client, *asked, options.ttl, interrupted);
    const bool granted = !interrupted && judged.verdict == core::verdict::granted;

    // A lost round can leave our key on a minority of nodes and on every node that timed out.
    // Undo it before waiting, or others queue behind a resource that nobody holds.
    if (!granted)
    {
        client.rounds.release(*asked, options.ttl, acquiring.queued.in_round());
        note_places(acquiring, *asked);
    }

    // A client whose clock or whose idea of the last token was wrong knows better now. That is no
    // reason to wait, or to give up a single try; but only once in a row, for somebody who acquires
    // just now raises the fence as well.
    acquiring.corrected =
        !granted && client.rounds.times().correct(*asked, acquiring.above) && !acquiring.corrected;
    // By a clock that is behind it would have come before everybody else. A minority is no judge of
    // that: who always comes anew to one bad node never gets its turn.
    const std::size_t spare = core::spare_nodes(asked->node_count());
    if (acquiring.corrected && asked->count_of(reason::clock) > spare)
        acquiring.queued.forget_arrival();

    whole_round_ptr holders;
    if (!interrupted && !acquiring.corrected && !asked->guarded() &&
        judged.verdict == core::verdict::contended && (!acquiring.once() || options.report))
    {
        holders = client.rounds.ask_holders(*asked);
        interrupted = co_await client.life.decided(*holders);
    }
    if (options.report)
        client.rounds.write_report(*options.report, acquiring.rounds, *asked, holders.get());
    // The guarded script says with its denial how long the holder has left.
    if (granted)
    {
        acquiring.granted = make_lease(acquiring, *asked, judged);
        acquiring.granted_at = judged.now;
        acquiring.in_line.leave_to_hold();
    }
    else
    {
        acquiring.free_after = holders ? free_after(*asked, *holders) : free_after(*asked, *asked);
    }
    co_return interrupted ? interrupted : asked->error_for(judged.verdict);
}

/// Takes part in what the owner holds already. Fails with lease_lost if that is over.
task<error_code> join(acquisition& acquiring, std::shared_ptr<hold> held)
{
    client_impl& client = *acquiring.client;
    const acquire_options& options = acquiring.options();
    if (client.config.mode == mode::guarded && held->fence() <= options.fence_at_least)
    {
        explain(acquiring, too_low_a_token(*held, options.fence_at_least));
        co_return error::invalid_argument;
    }

    acquiring.corrected = false;  // That was about another round.
    const core::instant now = client.now();
    const auto joined = share::join(held, options.ttl, now);
    if (!joined)
        co_return error::lease_lost;

    // From here on the lease leaves again, if it is not handed out.
    lease mine = share::make_lease(joined);
    const auto wanted = core::valid_until(now, options.ttl, client.config.clock_drift);
    if (core::remaining(now, held->valid_until()) < core::remaining(now, wanted))
    {
        if (const error_code ec = co_await extend(held, options.ttl, {}, end_of_places(acquiring)))
            co_return ec;
    }
    if (options.auto_extend)
        client.held.extend_by(*held, options.ttl);
    acquiring.granted = std::move(mine);
    acquiring.granted_at = client.now();
    co_return error_code();
}

/// What the owner who acquires holds already, or null.
std::shared_ptr<hold> own_hold(const acquisition& acquiring)
{
    const owner who = acquiring.options().owner;
    if (who == owner::none)
        return nullptr;
    auto held = acquiring.client->held.find(acquiring.wanted->resource());
    return held && held->wanted().options.owner == who ? held : nullptr;
}

/// Says where in the line somebody stood who does not wait any longer.
void report_place(acquisition& acquiring)
{
    diagnostics* const report = acquiring.options().report;
    if (!report)
        return;
    const waiting_place at = acquiring.in_line.place();
    report->position = at.position;
    report->waiters = at.length;
}

/// How long an acquisition stands in line.
time_point end_of_line(const acquisition& acquiring, core::instant started)
{
    if (!acquiring.once())
        return acquiring.give_up;
    // A try waits for nobody, but for the round of its own owner: that may be granted for both.
    if (!acquiring.in_line.follows_its_owner())
        return started.steady;
    return core::shifted(started, acquiring.client->config.node_timeout).steady;
}

/// Waits for its turn in the line of the resource, or for a hold of its owner, and takes part in
/// that. Fails with contended if neither comes in time.
task<error_code> until_first_or_joined(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    const core::instant started = client.now();
    for (;;)
    {
        acquiring.in_line.pass_on();
        if (auto held = own_hold(acquiring))
        {
            const error_code ec = co_await join(acquiring, std::move(held));
            if (ec != error::lease_lost)
                co_return ec;
        }
        if (acquiring.in_line.may_ask())
            co_return error_code();
        if (!client.life.running())
            co_return asio::error::operation_aborted;
        const time_point end = end_of_line(acquiring, started);
        if (client.now().steady >= end)
        {
            report_place(acquiring);
            co_return error::contended;
        }
        if (!acquiring.once())
            tell_waiting(acquiring);
        pause& sleep = acquiring.in_line.sleep();
        if (const error_code interrupted = co_await client.life.sleep_until(sleep, end))
            co_return interrupted;
    }
}

task<error_code> join_or_ask(acquisition& acquiring)
{
    const error_code ec = co_await until_first_or_joined(acquiring);
    if (ec || acquiring.granted)
        co_return ec;
    co_return co_await ask_once(acquiring);
}

task<error_code> try_once(acquisition& acquiring)
{
    const bool alone = acquiring.options().owner == owner::none && acquiring.in_line.may_ask();
    return alone ? ask_once(acquiring) : join_or_ask(acquiring);
}

/// Whether another try may succeed where this error ended one.
bool is_passing(error_code ec) noexcept
{
    return ec == condition::not_acquired;
}

/// When who waits in a queue asks again, should nobody wake it. The first one when the resource is
/// free, the others so much later that they do not get in its way, and all of them less and less
/// often.
time_point next_poll(acquisition& waiting, core::instant now)
{
    const client_config& config = waiting.client->config;
    const core::nanoseconds reservation = core::reservation_for(config.node_timeout);
    const core::nanoseconds behind = (*waiting.position - 1) * poll_step;
    const core::nanoseconds longest = config.waiting.poll;
    const auto doublings = std::min<std::size_t>(waiting.polls++, 10);
    auto delay = std::min((reservation + behind) * (1 << doublings), longest);
    delay += delay / 8 * (random_bits() % 128) / 128;
    if (waiting.free_after)
    {
        const milliseconds left = std::min(*waiting.free_after, core::max_ttl);
        const auto after = behind == core::nanoseconds(0) ? behind : reservation + behind;
        delay = std::min(delay, left + milliseconds(2) + after);
    }
    return std::min(core::shifted(now, delay).steady, waiting.give_up);
}

/// Sleeps while the nodes watch the key. One that was connected meanwhile does not: it is asked.
task<error_code> sleep_watching(acquisition& waiting, time_point until)
{
    client_impl& client = *waiting.client;
    waiter& in_line = waiting.in_line;
    for (;;)
    {
        const std::size_t before = client.nodes.connections();
        const time_point next = std::min(until, in_line.next());
        pause& sleep = in_line.sleep();
        if (const error_code ec =
                co_await client.life.sleep_until(sleep, next, client.life.for_connections().list()))
            co_return ec;
        const bool connected = client.nodes.connections() != before;
        if (!connected || in_line.is_called() || client.now().steady >= next)
            co_return error_code();
        client.rounds.watch_key(waiting.last, waiting.client);
    }
}

/// Lets time pass until `next`, or until the nodes or another acquisition wake this one.
task<error_code> sleep_until(acquisition& waiting, core::instant now, time_point next)
{
    client_impl& client = *waiting.client;
    pause& sleep = waiting.in_line.sleep();
    const time_point watched = core::shifted(now, watch_after).steady;
    if (waiting.position == 1U && !waiting.watching && watched < next)
    {
        if (const error_code interrupted = co_await client.life.sleep_until(sleep, watched))
            co_return interrupted;
        // A client that closes wakes who sleeps. This one has slept enough.
        if (!client.life.running())
            co_return asio::error::operation_aborted;
        waiting.watching = !waiting.in_line.woken();
        if (waiting.watching)
            client.rounds.watch_key(waiting.last, waiting.client);
    }
    error_code interrupted;
    if (waiting.watching)
        interrupted = co_await sleep_watching(waiting, next);
    else if (!waiting.in_line.woken())
        interrupted =
            co_await client.life.sleep_until(sleep, std::min(next, waiting.in_line.next()));
    if (interrupted)
        co_return interrupted;
    if (waiting.in_line.heard())
        waiting.watching = false;
    if (waiting.in_line.woken())
    {
        waiting.polls = 0;
        client.events.woken();
    }
    co_return error_code();
}

/// After a first try that ended with `ec`: tries until a quorum grants, `wait` has passed or the
/// operation is cancelled.
task<error_code> try_again(acquisition& acquiring, error_code ec)
{
    client_impl& client = *acquiring.client;
    core::backoff delays(client.rounds.first_delay(), client.config.retry.max_delay);
    while (is_passing(ec))
    {
        if (!acquiring.corrected)
        {
            // Somebody who is about to go on is not told that the client was closed.
            if (!client.life.running())
                co_return asio::error::operation_aborted;
            const core::instant lost_at = client.now();
            if (acquiring.once() || lost_at.steady >= acquiring.give_up)
                break;
            tell_waiting(acquiring);
            const auto delay = delays.next(random_bits());
            const auto next =
                acquiring.position
                    ? next_poll(acquiring, lost_at)
                    : next_round(lost_at, delay, acquiring.free_after, acquiring.give_up);
            if (const error_code interrupted = co_await sleep_until(acquiring, lost_at, next))
                co_return interrupted;
        }
        ec = co_await try_once(acquiring);
    }
    co_return ec;
}

// An acquisition that is granted at once is what most are. It takes this coroutine and one for the
// round: each costs an allocation.
task<result<lease>> run_acquisition(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> wanted
)
{
    client_impl& client = *self;
    const core::instant started = client.now();
    acquisition acquiring(std::move(self), std::move(wanted), started.steady);
    const demand& what = *acquiring.wanted;
    diagnostics* const report = what.options.report;

    if (report)
        *report = {};
    error_code ec;
    if (auto problem = problem_of_acquisition(client.config, what); !problem.empty())
    {
        explain(acquiring, std::move(problem));
        ec = error::invalid_argument;
    }
    else if (!client.life.running())
    {
        ec = co_await client.life.until_running(acquiring.give_up);
        if (ec == error::not_running)
        {
            auto [why, level] = client.life.why_not_running();
            explain(acquiring, std::move(why), level);
        }
    }
    if (!ec)
    {
        client.waiting.enter(acquiring.in_line);
        if (!what.once() && client.rounds.queues())
        {
            acquiring.queued = core::queue_place::in_queues();
            if (!acquiring.in_line.may_ask())
                acquiring.queued.arrive(client.rounds.times().now());
        }
        ec = co_await try_once(acquiring);
        if (is_passing(ec))
            ec = co_await try_again(acquiring, ec);
    }

    const bool leaves = acquiring.queued.at_end() == core::queue_move::leave;
    if (ec && leaves && client.life.connected())
        client.rounds.leave_queues(acquiring.last);
    const bool denied = ec == error::contended || ec == asio::error::operation_aborted;
    if (denied && report)
        report->held_by_this_client = is_held_here(acquiring);
    if (ec)
        client.events.not_acquired(what.resource(), ec, acquiring.rounds, started);
    if (ec == error::contended && what.tries)
        co_return lease();
    if (ec)
        co_return ec;
    if (report)
        report->problem.clear();  // It has waited for itself, and was granted all the same.
    const core::nanoseconds waited = acquiring.granted_at.steady - started.steady;
    client.events.acquired(acquiring.granted, acquiring.rounds, waited);
    co_return std::move(acquiring.granted);
}

}  // namespace

task<result<lease>> acquire(std::shared_ptr<client_impl> self, std::shared_ptr<const demand> wanted)
{
    return run_acquisition(std::move(self), std::move(wanted));
}

}  // namespace redlock::detail
