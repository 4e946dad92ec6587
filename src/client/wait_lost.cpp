#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "loop/suspension.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

/// How a wait for the loss of a lease ends now. Empty: it continues.
std::optional<error_code> end_of_wait(const share& watched)
{
    hold& held = *watched.held();
    client_impl& client = *held.client();
    const core::hold_end why = held.end_at_deadline();
    const bool over = held.over_at(client.now());
    // `holds` may not have looked yet: never report an expired lease as alive.
    if (over && !watched.ended())
        client.holds.lose(held, why);
    // Checked last, because the owner may be ending the lease, and with it the hold, in another
    // thread.
    const bool ended = watched.ended();
    // Its own end counts, not what became of a hold that others share. A lease that is released too
    // late was lost, although nobody was notified.
    if (ended && !watched.lost_at(client.now()))
        return error_code();
    if (const error_code loss = held.loss())
        return loss;
    if (ended)
        return to_error(why);
    if (!over && held.revoked())
        return error::revoked;
    // If it's over but was neither given back nor lost, the client has closed.
    if (over || !client.life.running())
        return error::not_running;
    return std::nullopt;
}

task<error_code> wait_lost(share::attention given)
{
    const share& watched = given.lease();
    for (;;)
    {
        if (const auto ended = end_of_wait(watched))
            co_return *ended;
        pause change(*watched.held()->client()->loop.end_of_turn);
        if (const error_code ec = co_await change.wait(watched.held()->lost_waiting))
            co_return ec;
    }
}

task<error_code> wait_stop(share::attention given, milliseconds stop_before)
{
    const share& watched = given.lease();
    hold& held = *watched.held();
    client_impl& client = *held.client();
    for (;;)
    {
        if (const auto ended = end_of_wait(watched))
            co_return *ended;
        const core::instant now = client.now();
        const auto remaining = core::remaining(now, held.valid_until()) - stop_before;
        if (remaining <= core::nanoseconds(0))
        {
            client.holds.extend_no_more(held);
            co_return to_error(held.end_at_deadline());
        }
        pause change(*client.loop.end_of_turn);
        const auto next = core::shifted(now, std::min(remaining, longest_sleep)).steady;
        if (const error_code ec = co_await client.life.sleep_until(change, next, held.lost_waiting))
            co_return ec;
    }
}

}  // namespace

void start_wait_lost(handler_of<> handler, to_share watched)
{
    if (!watched)
        return std::move(handler)(error::invalid_argument);
    const auto client = watched->held()->client();
    spawn_op(*client, wait_lost(share::attention(std::move(watched))), std::move(handler));
}

void start_wait_stop(handler_of<> handler, to_share held, milliseconds stop_before)
{
    const auto client = held->held()->client();
    share::attention given(std::move(held));
    auto wait = stop_before > milliseconds(0) ? wait_stop(std::move(given), stop_before)
                                              : wait_lost(std::move(given));
    spawn_op(*client, std::move(wait), std::move(handler));
}

}  // namespace redlock::detail
