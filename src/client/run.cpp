#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "loop/suspension.hpp"

#include <new>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// When a client ends, its operations are cancelled. They have this much time to begin to release
/// what they held.
constexpr milliseconds time_to_release = 1ms;

task<error_code> let_releases_out(client_impl& client)
{
    const core::instant begun = client.now();
    pause start(*client.loop.end_of_turn);
    client.loop.timer->add(start, core::shifted(begun, time_to_release).steady);
    co_await start.wait(client.life.for_run().list());

    open_releases& releases = client.rounds.releases();
    const time_point limit = core::shifted(begun, client.config.node_timeout).steady;
    while (!releases.empty() && client.now().steady < limit)
    {
        pause answered(*client.loop.end_of_turn);
        client.loop.timer->add(answered, limit);
        co_await answered.wait(releases.waiting);
    }
    co_return error_code();
}

task<error_code> stop_nodes(client_impl& client)
{
    client.nodes.stop();
    while (!client.nodes.stopped())
    {
        pause stopped(*client.loop.end_of_turn);
        co_await stopped.wait(client.life.for_run().list());
    }
    client.loop.timer->stop();
    co_return error_code();
}

task<error_code> run(std::shared_ptr<client_impl> self)
{
    client_impl& client = *self;
    if (const error_code ec = client.life.begin())
        co_return ec;
    client.loop.end_of_turn->begin_with([weak = client.weak_from_this()]() {
        if (const auto alive = weak.lock())
            alive->holds.catch_up();
    });
    const time_point chance_ends = core::shifted(client.now(), longest_first_chance).steady;
    client.nodes.start(client.weak_from_this(), chance_ends);

    pause stop(*client.loop.end_of_turn);
    const error_code outcome = co_await stop.wait(client.life.for_run().list());
    client.stop();
    while (client.holds.size() > 0)  // Each turn forgets some of them.
        co_await stop.wait_for_next_turn(client.life.for_run().list());
    co_await let_releases_out(client);
    co_await stop_nodes(client);
    client.life.end();
    co_return outcome;
}

}  // namespace

void start_run(handler_of<> handler, to_client self)
{
    spawn_op(*self, run(self), std::move(handler));
}

}  // namespace redlock::detail
