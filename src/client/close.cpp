#include "client/operations.hpp"
#include "client/pause.hpp"

#include <algorithm>
#include <utility>
#include <vector>

/** The orderly end of a client.

    A body that runs under `with_lock` must have ended before its resource is given back, and so
    must whatever else waits for the loss of a lease. So these are told, and their leases are left
    to them until the deadline. Nobody can be told of the others: they are released at once.
*/
namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

using holds = std::vector<std::shared_ptr<hold>>;

/// So many releases are under way at a time, which leaves room on the connections for others.
constexpr std::size_t max_releasing = 1024;

/// How long to wait before nodes that did not confirm a release are asked again.
constexpr milliseconds repeat_interval = 100ms;

/// Releases all of `held`, and keeps those that no quorum confirmed.
task<error_code> release_all(client_impl& client, holds& held)
{
    holds unconfirmed;
    for (std::size_t first = 0; first < held.size(); first += max_releasing)
    {
        std::vector<release_round_ptr> asked;
        const std::size_t last = std::min(first + max_releasing, held.size());
        for (std::size_t i = first; i < last; ++i)
            asked.push_back(client.release(*held[i]));
        for (std::size_t i = first; i < last; ++i)
        {
            const auto& answered = asked[i - first];
            if (const error_code ec = co_await client.released(*answered))
                co_return ec;
            if (!answered->confirmations().confirmed())
                unconfirmed.push_back(held[i]);
        }
    }
    held = std::move(unconfirmed);
    co_return error_code();
}

/// Ends what nobody attends to, and tells the others.
/// @return What is to be released.
holds end_all(client_impl& client)
{
    holds ended;
    for (const auto& each : client.held().all())
    {
        if (each->end_unattended() && each->begin_release())
        {
            client.events().given_back();
            client.held().remove(*each);
            ended.push_back(each);
        }
        for (suspension& waiting : each->lost_waiting)
            waiting.wake(asio::error::operation_aborted);
    }
    return ended;
}

task<error_code> release_everything(client_impl& client)
{
    holds left = end_all(client);
    milliseconds longest{0};
    for (const auto& each : left)
        longest = std::max(longest, each->longest_ttl());
    const time_point give_up = core::shifted(client.now(), longest).steady;

    while (!left.empty() && client.now().steady < give_up)
    {
        if (const error_code ec = co_await release_all(client, left))
            co_return ec;
        const auto again = core::shifted(client.now(), repeat_interval).steady;
        if (left.empty() || again >= give_up)
            break;
        pause sleep(client.end_of_turn());
        if (const error_code ec = co_await client.sleep_until(sleep, again))
            co_return ec;
    }
    co_return co_await client.until_settled();
}

}  // namespace

task<error_code> close(std::shared_ptr<client_impl> self)
{
    if (!self->begin_close())
        co_return error::not_running;
    const error_code ec = co_await release_everything(*self);
    self->begin_stop();
    co_return ec;
}

}  // namespace redlock::detail
