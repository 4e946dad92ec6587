#include "client/operations.hpp"
#include "client/pause.hpp"

namespace redlock::detail {

task<error_code> wait_lost(share::attention given)
{
    const share& watched = given.lease();
    hold& held = *watched.held();
    client_impl& client = *held.client();
    for (;;)
    {
        const error why = held.at_limit ? error::hold_limit_reached : error::lease_lost;
        const bool over = held.over_at(client.now());
        // The watch may not have looked yet: nobody learns from here that a lease lives which is
        // over on the clock.
        if (over && !watched.ended())
            client.lose(held, why);
        // Asked last, for the owner may end the lease meanwhile in another thread, and with it the
        // hold.
        const bool ended = watched.ended();
        // Its own end counts, and not what became of a hold that others share. Who releases a lease
        // too late has lost it, although nobody was told.
        if (ended && !watched.lost_at(client.now()))
            co_return error_code();
        if (const error_code loss = held.loss())
            co_return loss;
        if (ended)
            co_return why;
        // If it is over and neither given back nor lost, the client has closed.
        if (over || !client.running())
            co_return error::not_running;

        pause change(client.end_of_turn());
        const error_code ec = co_await change.wait(held.lost_waiting);
        if (ec)
            co_return ec;
    }
}

}  // namespace redlock::detail
