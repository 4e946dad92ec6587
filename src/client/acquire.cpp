#include <redlock/detail/demand.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/lease.hpp>

#include "client/operations.hpp"
#include "client/queue_wait.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/backoff.hpp"
#include "core/validity.hpp"
#include "loop/recycling.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// How a resource is acquired.
namespace redlock::detail {

namespace asio = boost::asio;

/// An acquisition under way.
struct acquisition
{
    acquisition(
        std::shared_ptr<client_impl> of,
        std::shared_ptr<const demand> asked_for,
        core::instant now
    );

    [[nodiscard]] const acquire_options& options() const noexcept { return wanted->options; }

    [[nodiscard]] core::lifetime lives() const noexcept
    {
        return {options().ttl, options().grace, client->config.clock_drift};
    }
    [[nodiscard]] diagnostics* report() const noexcept { return options().report; }

    /// Says why nothing was sent, in the report and in the log.
    void explain(std::string problem, log_level level = log_level::error) const;

    /// Whether this client holds the resource itself.
    [[nodiscard]] bool is_held_here() const;

    /// Lets its wait begin now: nodes that it hasn't asked yet had to connect first.
    void wait_from(core::instant now) noexcept;

    /// Reports once to the observer that it waits, and to the log if it waits for itself.
    void tell_waiting();

    /// How long it waits to be one of the rounds under way. A try waits as long as for an
    /// answer.
    [[nodiscard]] time_point end_of_admission() const noexcept;

    std::shared_ptr<client_impl> client;
    std::shared_ptr<const demand> wanted;
    core::instant started;
    time_point give_up;  ///< The end of its wait. See `wait_from`.
    waiter in_line;
    queue_wait queue;

    std::size_t rounds = 0;
    bool waits = false;      ///< The observer knows.
    fencing_token above{};   ///< What the next token must exceed.
    bool corrected = false;  ///< The next round may do better at once.
    lease granted{};
    core::instant granted_at{};
};

/// What a round is worth. Has linkage, like the coroutine frame that keeps it.
struct judgement
{
    core::instant now;  ///< When it was judged.
    core::verdict verdict;
};

acquisition::acquisition(
    std::shared_ptr<client_impl> of,
    std::shared_ptr<const demand> asked_for,
    core::instant now
)
    : client(std::move(of)),
      wanted(std::move(asked_for)),
      started(now),
      give_up(core::shifted(now, options().wait).steady),
      in_line(*wanted, *client->loop.end_of_turn),
      queue(client->rounds, client->life, client->events, in_line)
{
}

void acquisition::explain(std::string problem, log_level level) const
{
    client->events.problem(level, "acquire", wanted->resource(), problem);
    if (report())
        report()->problem = std::move(problem);
}

void acquisition::wait_from(core::instant now) noexcept
{
    give_up = core::shifted(now, options().wait).steady;
}

bool acquisition::is_held_here() const
{
    const auto held = client->holds.find(wanted->name());
    return held && !held->over_at(client->now());
}

void acquisition::tell_waiting()
{
    if (wanted->once() || std::exchange(waits, true))
        return;
    client->events.waiting(in_line);
    if (wanted->by_its_holder && is_held_here())
    {
        const std::string problem =
            "the function that asks already holds it through with_lock, so it waits for itself; "
            "give both the same acquire_options::owner";
        explain(problem, log_level::warning);
    }
}

time_point acquisition::end_of_admission() const noexcept
{
    if (!wanted->once())
        return give_up;
    return core::shifted(client->now(), client->config.node_timeout).steady;
}

namespace {

// Its turn. Of a client's acquisitions of one resource, only the first asks the nodes. An owner
// that already holds the resource gets another share in the hold.

std::string too_low_a_token(const hold& held, fencing_token wanted)
{
    return "fence_at_least is " + to_string(wanted) +
           ", must be below the token of the owner's hold, which is " + to_string(held.fence());
}

/// Takes part in what its owner already holds. Fails with lease_lost if that is over.
task<error_code> join(acquisition& acquiring, std::shared_ptr<hold> held)
{
    client_impl& client = *acquiring.client;
    const acquire_options& options = acquiring.options();
    if (client.config.mode == mode::guarded && held->fence() <= options.fence_at_least)
    {
        acquiring.explain(too_low_a_token(*held, options.fence_at_least));
        co_return error::invalid_argument;
    }

    const core::lifetime lives = held->lives(options.ttl);
    const auto problem = problem_of_ttl(client.config, lives);
    if (!problem.empty())
    {
        acquiring.explain(problem);
        co_return error::invalid_argument;
    }
    acquiring.corrected = false;  // That was about another round.
    const core::instant now = client.now();
    const auto joined = share::join(held, options.ttl, now);
    if (!joined)
        co_return error::lease_lost;

    // From here on the lease leaves again if it isn't handed out.
    lease mine = share::make_lease(joined);
    if (core::remaining(now, held->valid_until()) < core::remaining(now, lives.end(now)))
    {
        const time_point limit = acquiring.end_of_admission();
        if (const error_code ec = co_await client.holds.extend(held, options.ttl, {}, limit))
            co_return ec == error::revoked ? error_code(error::lease_lost) : ec;
    }
    if (options.auto_extend)
        client.holds.extend_by(*held, options.ttl);
    acquiring.granted = std::move(mine);
    acquiring.granted_at = client.now();
    co_return error_code();
}

/// What the owner that acquires holds already, or null.
std::shared_ptr<hold> own_hold(const acquisition& acquiring)
{
    const owner who = acquiring.options().owner;
    if (who == owner::none)
        return nullptr;
    auto held = acquiring.client->holds.find(acquiring.wanted->name());
    return held && held->wanted().options.owner == who ? held : nullptr;
}

/// How long an acquisition stands in line.
time_point end_of_line(const acquisition& acquiring, core::instant since)
{
    if (!acquiring.wanted->once())
        return acquiring.give_up;
    // A try waits only for a round of its own owner, which may be granted for both.
    if (!acquiring.in_line.follows_its_owner())
        return since.steady;
    return core::shifted(since, acquiring.client->config.node_timeout).steady;
}

/// Reports where in the line it stood, now that it no longer waits.
void report_position(const acquisition& acquiring)
{
    if (!acquiring.report())
        return;
    const line_position at = acquiring.in_line.position();
    acquiring.report()->position = at.position;
    acquiring.report()->waiters = at.length;
}

/// Waits for its turn in the line of the resource. Ends with a lease if its owner is granted the
/// resource in that time. Fails with contended if neither happens.
task<error_code> wait_in_line(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    const core::instant since = client.now();
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
            co_return boost::asio::error::operation_aborted;
        const time_point end = end_of_line(acquiring, since);
        if (client.now().steady >= end)
        {
            report_position(acquiring);
            co_return error::contended;
        }
        acquiring.tell_waiting();
        pause& sleep = acquiring.in_line.sleep();
        if (const error_code interrupted = co_await client.life.sleep_until(sleep, end))
            co_return interrupted;
    }
}

// One round: its room, its votes and what they mean.

/// Why the nodes that are away make a quorum impossible. Nothing is sent.
error_code tell_of_the_absent(const acquisition& acquiring)
{
    rounds& asking = acquiring.client->rounds;
    const auto asked = asking.ask_the_absent(asking.new_attempt(acquiring.wanted, {}));
    if (acquiring.report())
        asking.write_report(*acquiring.report(), acquiring.rounds, *asked, nullptr);
    return asked->outcome();
}

/// Says that it wasn't admitted.
void tell_of_overload(const acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    std::string problem = "this client has as many rounds under way as the nodes answer in time (" +
                          std::to_string(client.acquisitions.capacity()) +
                          "), and others are waiting for room";
    client.events.overload(acquiring.wanted->resource(), problem);
    if (diagnostics* const report = acquiring.report())
    {
        // What the nodes said to an earlier round isn't the reason.
        *report = {};
        report->rounds = acquiring.rounds;
        report->problem = std::move(problem);
    }
}

/// Waits until its round is admitted.
/// @param taken Empty if no quorum of nodes is ready: then a try asks them anyway.
task<error_code> until_admitted(acquisition& acquiring, std::optional<room>& taken)
{
    client_impl& client = *acquiring.client;
    window& under_way = client.acquisitions;
    if (acquiring.wanted->once() && under_way.closed())
        co_return error_code();
    acquiring.tell_waiting();
    const time_point end = acquiring.end_of_admission();
    const bool woken = acquiring.in_line.woken();
    room_wait waits(*client.loop.end_of_turn);
    under_way.wait(
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
    if (under_way.closed())
        co_return tell_of_the_absent(acquiring);
    tell_of_overload(acquiring);
    co_return error::overloaded;
}

/// Puts the next round to the nodes.
round_ptr start_round(acquisition& acquiring, room taken)
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
        {.what = verb::acquire, .attempt = tried, .ttl = acquiring.lives().of_keys(), .entry = entry
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
judgement judge(const acquisition& acquiring, const round& asked, error_code interrupted)
{
    client_impl& client = *acquiring.client;
    const core::instant now = client.now();
    const core::instant valid_until = acquiring.lives().end(asked.started());
    client.rounds.note_duration(asked, now);
    const core::verdict verdict = asked.tally().at(now, valid_until);
    const bool lost = verdict == core::verdict::unreachable || verdict == core::verdict::too_late;
    if (!interrupted)
        client.acquisitions.on_round(asked.started().steady, now.steady, !lost);
    client.events.round_ended(asked, interrupted ? interrupted : asked.outcome(verdict), now);
    return {now, verdict};
}

/// Makes a lease of what `asked` was granted.
void take_lease(acquisition& acquiring, const round& asked, const judgement& judged)
{
    auto held =
        make_recycled<hold>(acquiring.client, asked, acquiring.queue.place(), acquiring.lives());
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

/// Asks all nodes once. Ends with a lease if a quorum grants.
task<error_code> ask_once(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    std::optional<room> taken;
    // A corrected round has just left, but goes on anyway.
    if (acquiring.corrected || client.acquisitions.has_room())
        taken.emplace(client.acquisitions);
    else if (const error_code ec = co_await until_admitted(acquiring, taken))
        co_return ec;
    const auto asked = start_round(acquiring, taken ? std::move(*taken) : room());
    error_code interrupted = co_await client.life.until_decided(*asked);
    if (!client.life.running())
        interrupted = asio::error::operation_aborted;

    const judgement judged = judge(acquiring, *asked, interrupted);
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
        std::weak_ptr<rounds> asking = std::shared_ptr<rounds>(acquiring.client, &client.rounds);
        client.rounds.undo(*asked, acquiring.queue.place().in_round(), std::move(asking));
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

// As many rounds as it takes.

task<error_code> ask_in_turn(acquisition& acquiring)
{
    const error_code ec = co_await wait_in_line(acquiring);
    if (ec || acquiring.granted)
        co_return ec;
    co_return co_await ask_once(acquiring);
}

task<error_code> try_once(acquisition& acquiring)
{
    const bool alone = acquiring.options().owner == owner::none && acquiring.in_line.may_ask();
    return alone ? ask_once(acquiring) : ask_in_turn(acquiring);
}

/// Whether another try may succeed after this error.
bool is_passing(error_code ec) noexcept
{
    return ec == condition::not_acquired;
}

/// After a first try that ended with `ec`: tries until a quorum grants, `wait` has passed or the
/// operation is cancelled.
task<error_code> try_again(acquisition& acquiring, error_code ec)
{
    client_impl& client = *acquiring.client;
    core::backoff delays(client.rounds.first_delay(), client.config.retry.max_delay);
    if (ec == error::quorum_unreachable && acquiring.wanted->once() &&
        client.nodes.any_untried(client.now().steady))
    {
        if (co_await until_all_tried(client))
            co_return asio::error::operation_aborted;
        ec = co_await try_once(acquiring);
    }
    while (is_passing(ec))
    {
        if (!acquiring.corrected)
        {
            // An operation that is about to continue isn't told that the client was closed.
            if (!client.life.running())
                co_return asio::error::operation_aborted;
            if (acquiring.wanted->once() || client.now().steady >= acquiring.give_up)
                break;
            acquiring.tell_waiting();
            const core::nanoseconds pause = delays.next(random_bits());
            if (const error_code interrupted =
                    co_await acquiring.queue.until_next_round(pause, acquiring.give_up))
                co_return interrupted;
        }
        ec = co_await try_once(acquiring);
    }
    co_return ec;
}

/// Why it can't begin. Empty: the client runs.
task<error_code> until_ready(acquisition& acquiring)
{
    life& of = acquiring.client->life;
    const error_code ec = co_await of.until_running(acquiring.give_up);
    if (ec == error::not_running)
    {
        auto [why, level] = of.why_not_running();
        acquiring.explain(std::move(why), level);
    }
    co_return ec;
}

/// Lets the nodes of a fresh client connect. The wait begins then.
task<error_code> let_nodes_connect(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    if (co_await until_connected(client))
        co_return asio::error::operation_aborted;
    acquiring.wait_from(client.now());
    co_return error_code();
}

/// Ends without a lease.
void fail(acquisition& acquiring, error_code ec)
{
    client_impl& client = *acquiring.client;
    acquiring.queue.leave();
    const bool denied = ec == error::contended || ec == asio::error::operation_aborted;
    if (denied && acquiring.report())
        acquiring.report()->held_by_this_client = acquiring.is_held_here();
    client.events.not_acquired(
        acquiring.wanted->resource(), ec, acquiring.rounds, acquiring.started
    );
}

// Most acquisitions are granted at once. That takes this coroutine and one for the round: each
// costs an allocation.
task<result<lease>> acquire(std::shared_ptr<client_impl> self, std::shared_ptr<const demand> wanted)
{
    client_impl& client = *self;
    acquisition acquiring(std::move(self), std::move(wanted), client.now());
    diagnostics* const report = acquiring.report();

    if (report)
        *report = {};
    error_code ec;
    if (auto problem = problem_of_acquisition(client.config, *acquiring.wanted); !problem.empty())
    {
        acquiring.explain(std::move(problem));
        ec = error::invalid_argument;
    }
    else if (!client.life.running())
    {
        ec = co_await until_ready(acquiring);
    }
    if (!ec && client.acquisitions.closed() && client.nodes.any_untried(client.now().steady))
        ec = co_await let_nodes_connect(acquiring);
    if (!ec)
    {
        client.lines.enter(acquiring.in_line);
        if (!acquiring.wanted->once())
            acquiring.queue.enter();
        ec = co_await try_once(acquiring);
        if (is_passing(ec))
            ec = co_await try_again(acquiring, ec);
    }

    if (ec)
        fail(acquiring, ec);
    if (ec == error::contended && acquiring.wanted->tries)
        co_return lease();
    if (ec)
        co_return ec;
    if (report)
        report->problem.clear();  // It waited for itself, but was granted anyway.
    const core::nanoseconds waited = acquiring.granted_at.steady - acquiring.started.steady;
    client.events.acquired(acquiring.granted, acquiring.rounds, waited);
    // A lease that isn't handed out keeps nothing.
    share::of(acquiring.granted)->held()->state()->keep_for(acquiring.options().at_least);
    co_return std::move(acquiring.granted);
}

}  // namespace

void start_acquire(handler_of<lease> handler, to_client self, demand wanted)
{
    wanted.by_its_holder = self->under_lock.is_caller(wanted.resource());
    if (self->config.mode == mode::guarded && wanted.options.note.empty())
        wanted.options.note = self->config.name;
    spawn_op(*self, acquire(self, self->keep_addressed(std::move(wanted))), std::move(handler));
}
}  // namespace redlock::detail
