#include "client/queue_wait.hpp"

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
    track_round(subject of, turn& end_of_turn, std::weak_ptr<detail::node::owner> told)
        : round(std::move(of), end_of_turn), told_(std::move(told))
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override
    {
        if (answer.held_for == milliseconds(0))
        {
            if (const auto told = told_.lock())
                told->on_news(node, {news::kind::free, key()});
        }
        round::on_reply(node, answer);
    }

private:
    std::weak_ptr<detail::node::owner> told_;
};

}  // namespace

queue_wait::queue_wait(rounds& asking, life& of, events& tells, waiter& in_line) noexcept
    : rounds_(asking),
      life_(of),
      events_(tells),
      in_line_(in_line),
      polls_(core::reservation_for(asking.config().node_timeout), asking.config().waiting.poll)
{
}

void queue_wait::enter()
{
    if (!rounds_.queues())
        return;
    place_ = core::queue_place::in_queues();
    era_ = rounds_.times().era();
    if (!in_line_.may_ask())
        place_.arrive(rounds_.times().now());
}

queue_entry queue_wait::entry(fencing_token token)
{
    if (place_.is_apart())
        return {};
    const stamps& times = rounds_.times();
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
    const core::instant now = rounds_.loop().now();
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
        interrupted = co_await life_.sleep_until(in_line_.sleep(), until);
    }
    if (interrupted)
        co_return interrupted;
    if (in_line_.heard())
        watching_ = false;
    if (in_line_.woken())
    {
        polls_.start_again();
        events_.woken();
    }
    co_return error_code();
}

/// Asks the nodes to watch the key if none of them has woken it by then.
task<error_code> queue_wait::begin_watching(time_point at)
{
    if (const error_code ec = co_await life_.sleep_until(in_line_.sleep(), at))
        co_return ec;
    // A client that closes wakes what sleeps. This one has slept enough.
    if (!life_.running())
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
        const std::size_t before = rounds_.nodes().connections();
        const time_point next = std::min(until, in_line_.next());
        suspension::list& among = life_.for_connections().list();
        if (const error_code ec = co_await life_.sleep_until(in_line_.sleep(), next, among))
            co_return ec;
        const bool connected = rounds_.nodes().connections() != before;
        if (!connected || in_line_.is_called() || rounds_.loop().now().steady >= next)
            co_return error_code();
        track_key();
    }
}

/// Asks the nodes to report when the key changes. The client is told where it's already gone.
void queue_wait::track_key()
{
    rounds_.put_to_all(
        rounds_.make<track_round>({.what = verb::track, .attempt = last_}, rounds_.nodes().owner())
    );
}

void queue_wait::leave()
{
    if (place_.at_end() != core::queue_move::leave || !life_.connected())
        return;
    rounds_.put_to_all(rounds_.make<round>({.what = verb::leave, .attempt = last_}));
}

}  // namespace redlock::detail
