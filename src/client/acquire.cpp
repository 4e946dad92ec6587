#include "client/acquisition.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/backoff.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

namespace {

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
