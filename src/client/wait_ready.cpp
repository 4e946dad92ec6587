#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "loop/suspension.hpp"

#include <string>
#include <utility>

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

namespace {

/// A caller that gives up waiting gets only an error code, so the log says why.
void log_not_ready(const client_impl& client)
{
    std::string line = "gave up waiting for ready nodes: " + std::to_string(client.nodes.ready()) +
                       " of " + std::to_string(client.nodes.voters().quorum()) + " needed";
    if (client.life.idle())
        line += ", async_run was not called";
    for (std::size_t node = 0; node < client.nodes.size(); ++node)
    {
        const node_status status = client.nodes[node].status();
        if (status.state == node_state::ready)
            continue;
        line += ", " + status.node + " " + to_string(status.state);
        if (!status.because.empty())
            line += " (" + status.because + ")";
    }
    client.events.tell(log_level::warning, std::move(line));
}

task<error_code> wait_ready(std::shared_ptr<client_impl> self)
{
    client_impl& client = *self;
    while (client.life.idle() || client.life.running())
    {
        if (client.nodes.has_quorum())
            co_return error_code();

        pause change(*client.loop.end_of_turn);
        if (const error_code ec = co_await change.wait(client.life.for_nodes().list()))
        {
            log_not_ready(client);
            co_return ec;
        }
    }
    co_return error::not_running;
}

}  // namespace

void start_wait_ready(handler_of<> handler, to_client self)
{
    spawn_op(*self, wait_ready(self), std::move(handler));
}

}  // namespace redlock::detail
