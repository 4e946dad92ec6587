// Clients that ask for more than the nodes do in their time, and what must hold for them.

#include <boost/asio/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/actor.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

/// Longer than a burst or a line takes that is served at all.
constexpr milliseconds patience = 10s;

/// For what does not depend on the load, such as connecting again.
constexpr nanoseconds grace = 500ms;

}  // namespace

void simulation::tell_load()
{
    if (!plan_.has_load())
        return;
    if (plan_.of == profile::crowd)
        return tell_crowd();
    const auto us = [](nanoseconds of) { return std::to_string(of / 1us) + " us"; };
    std::string lines;
    for (std::size_t i = 0; i < plan_.clients; ++i)
        lines += ' ' + std::to_string(workers_of(static_cast<unsigned>(i)));
    trace_.tell(
        "load",
        std::string(to_string(plan_.mode)) + ", " + std::to_string(plan_.nodes) +
            " nodes, clients of" + lines + ", a command takes " + us(plan_.habits.service) +
            ", a way " + us(plan_.habits.usual) + ", holds up to " + us(plan_.load.hold) +
            ", stall of " + us(plan_.load.stall) + ", timeout " + us(plan_.node_timeout) +
            ", window " + us(plan_.clock_window)
    );
}

std::size_t simulation::workers_of(unsigned client) const
{
    const load& more = plan_.load;
    if (client < more.lines.size())
        return more.lines[client];
    return more.burst > 0 ? more.burst : plan_.actors;
}

nanoseconds simulation::stall_end() const noexcept
{
    return plan_.load.stall > 0ns ? plan_.load.stall_at + plan_.load.stall : 0ns;
}

/// What a node needs for a burst of all clients, several times over.
nanoseconds simulation::time_for_burst() const noexcept
{
    const auto commands = static_cast<int>(2 * plan_.load.burst * plan_.clients);
    return grace + 4 * commands * plan_.habits.service;
}

/// Clients take turns, so who is last in the line of a client waits for as many turns of the others
/// as of those in front.
nanoseconds simulation::time_for_line(unsigned client) const noexcept
{
    const nanoseconds turn =
        plan_.load.hold + 4 * plan_.habits.longest + 8 * plan_.habits.service + 1ms;
    const auto turns = static_cast<int>(plan_.clients * plan_.load.lines[client]);
    return grace + 2 * turns * turn;
}

void simulation::count_grant(contender& of)
{
    if (plan_.of == profile::crowd)
        return count_hand_over(of);
    of.grants += time_.elapsed() < plan_.load.lasts;
}

void simulation::check_shares()
{
    if (plan_.of != profile::lines)
        return;
    std::vector<std::size_t> grants;
    for (const auto& each : contenders_)
        grants.push_back(each->grants);
    rules_->i12_shares_are_alike(grants);
}

asio::awaitable<void> actor::take_one_of_burst(std::size_t index)
{
    co_await pause(sim_.plan_.load.burst_at);
    const std::string resource = "c" + std::to_string(by_.index) + "-" + std::to_string(index);
    const nanoseconds since = std::max(sim_.time_.elapsed(), sim_.stall_end());
    // Most give back at once: all rules are checked for all who hold something, at every event.
    const nanoseconds hold = index % 16 == 0 ? sim_.plan_.load.hold : 0ns;
    if (const auto at = co_await take_and_give_back(resource, hold))
        sim_.rules_->i11_goodput_returns(*at - since, sim_.plan_.load.stall, sim_.time_for_burst());
}

asio::awaitable<void> actor::stand_in_line()
{
    while (sim_.time_.elapsed() < sim_.plan_.load.lasts && by_.usable())
    {
        const nanoseconds since = sim_.time_.elapsed();
        const auto at = co_await take_and_give_back("r0", sim_.plan_.load.hold);
        if (!at)
            co_return;
        sim_.rules_->i9_waits_in_bounds(*at - since, sim_.time_for_line(by_.index));
    }
}

/// @return When it was granted, if it was.
asio::awaitable<std::optional<nanoseconds>> actor::take_and_give_back(
    std::string resource,
    nanoseconds longest_hold
)
{
    const auto executor = sim_.context_->get_executor();
    acquire_options options;
    options.ttl = sim_.plan_.ttl_max;
    options.wait = patience;
    const fencing_token before = sim_.rules_->highest(resource);
    const nanoseconds asked_at = sim_.time_.elapsed();
    const auto asked =
        launch(sim_.calls_, executor, "acquire", by_.locks->async_acquire(resource, options));
    by_.asked = asked;
    co_await completion(*asked);
    auto& [failure, held] = asked->outcome;
    if (failure == asio::error::operation_aborted && sim_.has_ended_crowd())
        co_return std::nullopt;
    sim_.rules_->i9_is_alive(!failure, failure.message());
    if (failure)
        co_return std::nullopt;

    sim_.outcome_.longest_wait =
        std::max(sim_.outcome_.longest_wait, sim_.time_.elapsed() - asked_at);
    const nanoseconds at = sim_.time_.elapsed();
    sim_.count_grant(by_);
    const auto mine = sim_.rules_->begin(make_claim(held, options), before);
    if (longest_hold > 0ns)
        co_await pause(dice_.between(0ns, longest_hold));
    sim_.rules_->end(mine);
    const auto released = launch(sim_.calls_, executor, "release", held.async_release());
    co_await completion(*released);
    co_return at;
}

}  // namespace redlock::sim
