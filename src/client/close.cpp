#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "loop/suspension.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

/** The orderly end of a client.

    A body that runs under `with_lock` must have ended before its resource is given back, and so
    must anything else that waits for the loss of a lease. So these are notified, and keep their
    leases until the deadline. The others have no one to notify, so they are released at once.
*/
namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// Holds that are over and whose keys aren't released yet. With a hundred thousand of them, any
/// list in one piece would take longer to copy or to free than a handler may.
struct leftovers
{
    std::deque<std::shared_ptr<hold>> holds;
    milliseconds longest_ttl{0};
};

/// How long to wait before nodes that didn't answer a release are asked again.
constexpr milliseconds repeat_interval = 100ms;

/// How often to check whether the nodes have answered the releases.
constexpr milliseconds between_looks = 2ms;

template <class T>
T take_first(std::deque<T>& from)
{
    T first = std::move(from.front());
    from.pop_front();
    return first;
}

/// Releases all of `held`, and keeps those that no quorum answered. The nodes have until `give_up`
/// to answer, so they need not be asked twice for the same thing.
task<error_code> release_all(
    client_impl& client,
    std::deque<std::shared_ptr<hold>>& held,
    time_point give_up
)
{
    std::deque<release_round_ptr> asked;
    for (const auto& each : held)
    {
        asked.push_back(client.holds.release(*each));
        client.rounds.set_deadline(*asked.back(), give_up);
        if (asked.size() % turn::max_tasks != 0)
            continue;
        if (const error_code ec = co_await client.life.let_others_run())
            co_return ec;
    }
    while (!asked.empty())
    {
        const auto each = take_first(held);
        const auto release = take_first(asked);
        if (const error_code ec = co_await client.life.until_confirmed(*release))
            co_return ec;
        // What is kept after the deadline doesn't count, however often it's asked for.
        const bool too_late = release->what() == verb::keep && each->lost_at(client.now());
        if (!release->tally().answered() && !too_late)
            held.push_back(each);
        if (asked.empty() || asked.size() % turn::max_tasks != 0)
            continue;
        if (const error_code ec = co_await client.life.let_others_run())
            co_return ec;
    }
    co_return error_code();
}

/// Ends what nobody attends to, and notifies the others.
/// @param ended What is to be released.
task<error_code> end_all(client_impl& client, leftovers& ended)
{
    holds::tour all(client.holds);
    for (std::size_t count = 1; const auto each = all.next(); ++count)
    {
        if (const core::instant now = client.now(); each->over_at(now))
        {
            client.holds.lose(*each, each->end_at_deadline());
        }
        else
        {
            if (each->state()->give_back_unattended() && each->begin_release())
            {
                client.events.given_back();
                client.holds.remove(*each);
                ended.holds.push_back(each);
                ended.longest_ttl = std::max(ended.longest_ttl, each->longest_ttl);
            }
            each->interrupt();
        }
        if (count % turn::max_tasks != 0)
            continue;
        if (const error_code ec = co_await client.life.let_others_run())
            co_return ec;
    }
    co_return error_code();
}

/// Waits until nothing is held, and no operation waits for a release.
task<error_code> until_settled(client_impl& client)
{
    const auto settled = [&client]() {
        return client.holds.size() == 0 && !client.life.releases();
    };
    // A client that is stopped in between no longer wakes anything.
    while (!settled() && client.life.closing())
    {
        pause change(*client.loop.end_of_turn);
        if (const error_code ec = co_await change.wait(client.life.for_ends().list()))
            co_return ec;
    }
    co_return settled() ? error_code() : error_code(asio::error::operation_aborted);
}

/// Waits until no connected node owes an answer to a release, or until `limit`.
task<error_code> until_released(client_impl& client, time_point limit)
{
    while (client.nodes.owes_release() && client.now().steady < limit)
    {
        // Nodes answer soon, or are found to be silent.
        pause later(*client.loop.end_of_turn);
        const auto at = core::shifted(client.now(), between_looks).steady;
        if (const error_code ec = co_await client.life.sleep_until(later, at))
            co_return ec;
    }
    co_return error_code();
}

task<error_code> release_everything(client_impl& client)
{
    leftovers ended;
    if (const error_code ec = co_await end_all(client, ended))
        co_return ec;
    auto& unreleased = ended.holds;
    const time_point give_up = core::shifted(client.now(), ended.longest_ttl).steady;
    while (!unreleased.empty() && client.now().steady < give_up)
    {
        if (const error_code ec = co_await release_all(client, unreleased, give_up))
            co_return ec;
        const auto again = core::shifted(client.now(), repeat_interval).steady;
        if (unreleased.empty() || again >= give_up)
            break;
        pause sleep(*client.loop.end_of_turn);
        if (const error_code ec = co_await client.life.sleep_until(sleep, again))
            co_return ec;
    }
    if (const error_code ec = co_await until_settled(client))
        co_return ec;
    // Lost rounds and leases that were dropped meanwhile have releases that no operation awaits.
    const time_point last_key_ends = client.rounds.last_key_ends();
    co_return co_await until_released(client, std::max(give_up, last_key_ends));
}

task<error_code> close(std::shared_ptr<client_impl> self)
{
    if (!self->life.begin_close())
        co_return error::not_running;
    const error_code ec = co_await release_everything(*self);
    self->stop();
    co_return ec;
}

}  // namespace

void start_close(handler_of<> handler, to_client self)
{
    spawn_op(*self, close(self), std::move(handler));
}

}  // namespace redlock::detail
