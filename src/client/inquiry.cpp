#include "client/inquiry.hpp"

#include "client/operations.hpp"

#include <utility>

namespace redlock::detail {

namespace {

/// How long an operation waits for `async_run`.
constexpr milliseconds time_to_run{1000};

/// Waits until it's admitted or the window is closed. Those that wait are admitted in turn, as fast
/// as the nodes answer.
task<result<room>> until_admitted(client_impl& client)
{
    window& under_way = client.inquiries;
    if (under_way.has_room())
        co_return room(under_way);
    room_wait waits(*client.loop.end_of_turn);
    under_way.wait(waits, client.now().steady.time_since_epoch());
    while (client.life.running() && !under_way.closed())
    {
        suspension::list& among = client.life.for_nodes().list();
        if (const error_code ec =
                co_await client.life.sleep_until(waits.sleep, time_point::max(), among))
            co_return ec;
        room taken = waits.take();
        if (taken && client.life.running())
            co_return std::move(taken);
    }
    if (!client.life.running())
        co_return error::not_running;
    co_return room();
}

}  // namespace

task<result<room>> until_askable(client_impl& client)
{
    const time_point limit = core::shifted(client.now(), time_to_run).steady;
    if (const error_code ec = co_await client.life.until_running(limit))
        co_return ec;
    if (const error_code ec = co_await until_connected(client))
        co_return ec;
    co_return co_await until_admitted(client);
}

round_ptr ask_views(client_impl& client, std::shared_ptr<const attempt> by, room taken)
{
    const auto asked = client.rounds.make<round>({.what = verb::inspect, .attempt = std::move(by)});
    asked->occupy(std::move(taken));
    client.rounds.put_to_all(asked);
    return asked;
}

task<error_code> until_told(client_impl& client, round& asked)
{
    if (const error_code ec = co_await client.life.until_decided(asked))
    {
        asked.abandon();
        co_return ec;
    }
    const bool answered = asked.heard() >= asked.voters().quorum();
    // One silent node says nothing about how long the others keep a question waiting.
    if (!answered || asked.owing().none())
        client.inquiries.on_round(asked.started().steady, client.now().steady, answered);
    co_return error_code();
}

task<result<bool>> is_worth_asking_again(client_impl& client)
{
    if (!client.nodes.any_untried(client.now().steady))
        co_return false;
    if (const error_code ec = co_await until_all_tried(client))
        co_return ec;
    co_return true;
}

}  // namespace redlock::detail
