#include "client/queue_wait.hpp"

#include "client/client_impl.hpp"
#include "core/holder_estimate.hpp"
#include "core/limits.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

/// The first of a queue asks to be told about changes only if it isn't woken within this time.
/// Where holds are short, that would cost as many commands as rounds.
constexpr core::nanoseconds watch_after = std::chrono::milliseconds(20);

/// How long until the holders' keys have expired on enough nodes, as far as the nodes said.
std::optional<milliseconds> time_to_free(const round& lost, const round& holders)
{
    std::vector<milliseconds> held_for;
    holders.for_each_answer([&](const reply& answer) {
        if (answer.held_for)
            held_for.push_back(*answer.held_for);
    });
    const std::size_t quorum = lost.voters().quorum();
    const std::size_t granted = std::min(lost.tally().granted(), quorum);
    return core::free_after(std::move(held_for), quorum - granted);
}

/// Asks how long a key has left, so that its change wakes the waiting acquisition. Tells the client
/// about nodes on which the key is already gone.
class track_round final : public round
{
public:
    track_round(subject of, turn& end_of_turn, std::weak_ptr<client_impl> client)
        : round(std::move(of), end_of_turn), client_(std::move(client))
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override
    {
        if (answer.held_for == milliseconds(0))
        {
            if (const auto client = client_.lock())
                client->on_news(node, {news::kind::free, key()});
        }
        round::on_reply(node, answer);
    }

private:
    std::weak_ptr<client_impl> client_;
};

}  // namespace

queue_wait::queue_wait(client_impl& client, waiter& in_line) noexcept
    : client_(client),
      in_line_(in_line),
      polls_(core::reservation_for(client.config.node_timeout), client.config.waiting.poll)
{
}

void queue_wait::enter()
{
    if (!client_.rounds.queues())
        return;
    place_ = core::queue_place::in_queues();
    era_ = client_.rounds.times().era();
    if (!in_line_.may_ask())
        place_.arrive(client_.rounds.times().now());
}

queue_entry queue_wait::entry(fencing_token token)
{
    if (place_.is_apart())
        return {};
    const stamps& times = client_.rounds.times();
    const std::uint64_t era = times.era();
    if (std::exchange(era_, era) != era)
        place_.forget_arrival();
    const std::uint64_t arrival = in_line_.waits_since(place_.arrive(token.value()), era);
    return {place_.in_round(), arrival, times.own_reservation()};
}

void queue_wait::lose_round(const round& lost, const round* holders)
{
    place_.lose_round();
    last_ = lost.attempt();
    // In its denial the guarded script says how long the holder has left.
    free_after_ = holders ? time_to_free(lost, *holders) : time_to_free(lost, lost);
    position_.reset();
    lost.for_each_answer([this](const reply& answer) {
        if (answer.position)
            position_ = std::min(position_.value_or(*answer.position), *answer.position);
    });
}

core::nanoseconds queue_wait::next_delay(core::nanoseconds pause)
{
    if (position_)
        return polls_.next(*position_, free_after_, random_bits());
    return free_after_ ? core::until_free(pause, *free_after_) : pause;
}

task<error_code> queue_wait::until_next_round(core::nanoseconds pause, time_point give_up)
{
    const core::instant now = client_.now();
    // Not beyond the end of the wait, when there is one last round.
    const time_point next = std::min(core::shifted(now, next_delay(pause)).steady, give_up);
    const time_point watch_at = core::shifted(now, watch_after).steady;
    error_code interrupted;
    if (position_ == 1U && !watching_ && watch_at < next)
        interrupted = co_await begin_watching(watch_at);
    if (!interrupted && watching_)
        interrupted = co_await sleep_watching(next);
    else if (!interrupted && !in_line_.woken())
    {
        const time_point until = std::min(next, in_line_.next());
        interrupted = co_await client_.life.sleep_until(in_line_.sleep(), until);
    }
    if (interrupted)
        co_return interrupted;
    if (in_line_.heard())
        watching_ = false;
    if (in_line_.woken())
    {
        polls_.start_again();
        client_.events.woken();
    }
    co_return error_code();
}

/// Asks the nodes to watch the key if none of them has woken it by then.
task<error_code> queue_wait::begin_watching(time_point at)
{
    if (const error_code ec = co_await client_.life.sleep_until(in_line_.sleep(), at))
        co_return ec;
    // A client that closes wakes what sleeps. This one has slept enough.
    if (!client_.life.running())
        co_return boost::asio::error::operation_aborted;
    watching_ = !in_line_.woken();
    if (watching_)
        track_key();
    co_return error_code();
}

/// Sleeps while the nodes watch the key. A reconnected node doesn't, so it's asked.
task<error_code> queue_wait::sleep_watching(time_point until)
{
    for (;;)
    {
        const std::size_t before = client_.nodes.connections();
        const time_point next = std::min(until, in_line_.next());
        suspension::list& among = client_.life.for_connections().list();
        if (const error_code ec = co_await client_.life.sleep_until(in_line_.sleep(), next, among))
            co_return ec;
        const bool connected = client_.nodes.connections() != before;
        if (!connected || in_line_.is_called() || client_.now().steady >= next)
            co_return error_code();
        track_key();
    }
}

/// Asks the nodes to report when the key changes. The client is told where it's already gone.
void queue_wait::track_key()
{
    client_.rounds.put_to_all(client_.rounds.make<track_round>(
        {.what = verb::track, .attempt = last_}, client_.weak_from_this()
    ));
}

void queue_wait::leave()
{
    if (place_.at_end() != core::queue_move::leave || !client_.life.connected())
        return;
    client_.rounds.put_to_all(client_.rounds.make<round>({.what = verb::leave, .attempt = last_}));
}

}  // namespace redlock::detail
