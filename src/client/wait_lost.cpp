#include "client/operations.hpp"
#include "client/pause.hpp"

namespace redlock::detail {

task<error_code> wait_lost(attention given)
{
    const share& watched = given.lease();
    hold& held = *watched.held();
    client_impl& client = *held.client();
    for (;;)
    {
        // The watch may not have looked yet: nobody learns from here that a lease lives which is
        // over on the clock.
        if (!watched.ended() && held.over_at(client.now()))
            client.lose(held, held.at_limit ? error::hold_limit_reached : error::lease_lost);
        const bool over = held.over_at(client.now());
        if (watched.ended() || (over && held.loss()))
            co_return held.loss();
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
