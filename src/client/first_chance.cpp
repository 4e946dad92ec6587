#include "client/operations.hpp"
#include "loop/suspension.hpp"

/// Nodes of a fresh client, which count as absent only once they had a chance to connect.
namespace redlock::detail {

namespace {

/// Waits while a node hasn't had its first chance, unless a quorum is ready and that is enough.
task<error_code> until_tried(client_impl& client, bool quorum_is_enough)
{
    while (client.life.running() && client.nodes.any_untried(client.now().steady))
    {
        if (quorum_is_enough && client.nodes.has_quorum())
            break;
        pause change(*client.loop.end_of_turn);
        suspension::list& among = client.life.for_nodes().list();
        const time_point end = client.nodes.chance_ends();
        if (const error_code ec = co_await client.life.sleep_until(change, end, among))
            co_return ec;
    }
    co_return client.life.running() ? error_code() : error::not_running;
}

}  // namespace

task<error_code> until_connected(client_impl& client)
{
    return until_tried(client, true);
}

task<error_code> until_all_tried(client_impl& client)
{
    return until_tried(client, false);
}

}  // namespace redlock::detail
