// Many clients that want one resource all the time, what disturbs them, and what must hold for
// them once nothing more goes wrong.

#include "node/guard.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/actor.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view crowded = "r0";  // By all.

}  // namespace

void simulation::begin_crowd()
{
    const crowd& more = plan_.crowd;
    for (unsigned client = 0; client < more.distant; ++client)
        network_->place(client, more.far_way);
    limit_reach_of_crowd();
    for (std::size_t i = 0; i < plan_.clients; ++i)
    {
        const nanoseconds at = static_cast<int>(i) * more.between_arrivals;
        time_.at(at, [this]() { start_actors(add_contender()); });
    }
    plan_faults_of_crowd();
    // Before everything is healed.
    time_.at(more.watch_until, [this]() { end_crowd(); });
}

void simulation::tell_crowd()
{
    const crowd& more = plan_.crowd;
    const auto us = [](nanoseconds of) { return std::to_string(of / 1us) + " us"; };
    std::string by;
    for (const disturbance each : more.by)
        by.append(" ").append(to_string(each));
    std::string walls;
    for (const nanoseconds each : more.walls)
        walls += ' ' + us(each);
    trace_.tell(
        "crowd",
        std::to_string(plan_.nodes) + " nodes with clocks at" + walls + ", " +
            std::to_string(plan_.clients) + " clients, " + std::to_string(more.processors) +
            " processors, window " + us(plan_.clock_window) + ", timeout " +
            us(plan_.node_timeout) + ", poll " + us(plan_.poll) + ", holds up to " + us(more.hold) +
            ", a fair hand-over takes " + us(plan_.fair_hand_over()) + ", watched from " +
            us(more.watch_from) + " to " + us(more.watch_until) + ", disturbed by" + by
    );
}

void simulation::limit_reach_of_crowd()
{
    const std::size_t spare = plan_.nodes - majority_of(plan_.nodes);
    for (std::size_t i = 0; i < plan_.crowd.partial; ++i)
    {
        const auto client = static_cast<unsigned>(plan_.crowd.distant + i);
        const std::size_t missed = 1 + dice_.below(spare);
        for (std::size_t node = 0; node < missed; ++node)
            network_->refuse(client, (i + node) % plan_.nodes);
    }
}

void simulation::plan_faults_of_crowd()
{
    const crowd& more = plan_.crowd;
    const auto at = [this]() {
        return plan_.crowd.faults_at + dice_.between(nanoseconds(0), plan_.crowd.time_of_faults);
    };
    const std::size_t first = more.distant + more.partial;
    for (std::size_t i = 0; i < more.killed + more.frozen; ++i)
        time_.at(at(), [this, client = first + i]() { strike(client); });
    for (std::size_t i = 0; i < more.queues_lost; ++i)
        time_.at(at(), [this, i]() { lose_queue(*servers_[i]); });
}

/// Kills or freezes a client that waits, as soon as the resource is free. Otherwise a node might
/// have its key for the ttl, from a round that is under way or hasn't been undone yet.
void simulation::strike(std::size_t client)
{
    contender& who = *contenders_[client];
    const bool is_free = std::ranges::none_of(servers_, [](const auto& each) {
        return each->look(std::string(crowded)) != nullptr;
    });
    if (who.waits_since < 0ns || who.locks->metrics().rounds_under_way > 0 || !is_free)
        return time_.after(500us, [this, client]() { strike(client); });
    who.is_struck = true;
    const std::size_t first = plan_.crowd.distant + plan_.crowd.partial;
    if (client >= first + plan_.crowd.killed)
    {
        ++outcome_.faults[static_cast<std::size_t>(fault::stall)];
        return who.in->stall(plan_.crowd.watch_until - time_.elapsed());
    }
    ++outcome_.faults[static_cast<std::size_t>(fault::client_crash)];
    for (std::size_t node = 0; node < plan_.nodes; ++node)
        network_->reset(who.index, node);
    who.in->crash();
}

void simulation::lose_queue(server& node)
{
    ++outcome_.faults[static_cast<std::size_t>(fault::spoil_queue)];
    for (const std::string_view prefix :
         {detail::queue_key_prefix, detail::reserved_key_prefix, detail::waits_key_prefix})
        node.remove(std::string(prefix).append(crowded));
}

bool simulation::has_ended_crowd() const noexcept
{
    return plan_.of == profile::crowd && time_.elapsed() >= plan_.crowd.watch_until;
}

void simulation::count_hand_over(contender& of)
{
    const crowd& more = plan_.crowd;
    const nanoseconds now = time_.elapsed();
    const bool is_watched = now >= more.watch_from && now < more.watch_until;
    const bool is_another = std::exchange(crowd_.last, of.index) != of.index;
    const nanoseconds since = std::exchange(of.waits_since, -1ns);
    if (!is_watched)
        return;
    ++of.grants;
    crowd_.hand_overs += is_another;
    of.longest_wait = std::max(of.longest_wait, now - std::max(since, more.watch_from));
}

/// What still waits is cancelled: the turns of all others would take long.
void simulation::end_crowd()
{
    check_crowd();
    for (const auto& each : contenders_)
    {
        const auto asked = each->asked.lock();
        if (asked && !asked->done() && each->in->alive())
            asked->signal.emit(asio::cancellation_type::terminal);
    }
}

void simulation::check_crowd()
{
    const crowd& more = plan_.crowd;
    const nanoseconds watched = more.watch_until - more.watch_from;
    const nanoseconds fair = plan_.fair_hand_over();
    rules_->i20_hand_overs_keep_their_rate(crowd_.hand_overs, watched, fair);

    std::vector<std::size_t> grants;
    std::size_t living = 0;
    nanoseconds longest{0};
    std::vector<std::size_t> of_far;
    for (const auto& each : contenders_)
    {
        if (each->is_struck)
            continue;
        ++living;
        if (each->index < more.distant)
            of_far.push_back(each->grants);
        else if (each->index >= more.distant + more.partial)
            grants.push_back(each->grants);
        if (each->waits_since < 0ns)
            continue;
        const nanoseconds since = std::max(each->waits_since, more.watch_from);
        each->longest_wait = std::max(each->longest_wait, more.watch_until - since);
    }
    for (const auto& each : contenders_)
        longest = each->is_struck ? longest : std::max(longest, each->longest_wait);
    rules_->i21_equals_share_alike(grants);

    const auto turns = static_cast<int>(std::max<std::size_t>(crowd_.hand_overs, 1));
    const nanoseconds round = watched / turns * static_cast<int>(living);
    const nanoseconds round_of_distant = std::max(round, 2 * more.far_way);
    for (const auto& each : contenders_)
    {
        const bool is_distant = each->index < more.distant;
        if (!each->is_struck)
            rules_->i22_nobody_is_left_out(
                each->index, each->longest_wait, is_distant ? round_of_distant : round
            );
    }
    std::string by;
    for (const disturbance each : more.by)
        by.append(" ").append(to_string(each));
    const auto [least, most] = std::ranges::minmax(grants);
    outcome_.figures =
        std::to_string(plan_.nodes) + " nodes " + std::to_string(plan_.clients) + " clients," + by +
        ": " + std::to_string(crowd_.hand_overs * 1000 / static_cast<std::size_t>(watched / 1ms)) +
        "/s of " + std::to_string(1s / fair) + ", shares " + std::to_string(least) + " to " +
        std::to_string(most) + ", longest wait " + std::to_string(longest / 1ms) + " ms, round " +
        std::to_string(round / 1ms) + " ms, watched " + std::to_string(watched / 1ms) +
        " ms, distant ones";
    for (const std::size_t each : of_far)
        outcome_.figures += ' ' + std::to_string(each);
}

asio::awaitable<void> actor::stay_in_crowd()
{
    while (!sim_.has_ended_crowd() && by_.usable())
    {
        by_.waits_since = sim_.time_.elapsed();
        const auto at = co_await take_and_give_back("r0", sim_.plan_.crowd.hold);
        if (!at)
            co_return;
    }
}

}  // namespace redlock::sim
