// Nodes that are away one after the other, and those who hold something meanwhile.

#include <redlock/lead.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "sim/actor.hpp"
#include "sim/claim_guard.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

/// More than a node can remember.
constexpr nanoseconds everything = 1000h;

/// Of a restart that clients may miss.
constexpr nanoseconds short_time = 20ms;

/// What ends `lead` after one term, however that has ended.
struct end_of_term
{
};

}  // namespace

void simulation::begin_rolling()
{
    rules_->i19_begin();
    roll_.left = plan_.absences;
    roll_.next = dice_.between(nanoseconds(plan_.ttl_max), 3 * nanoseconds(plan_.ttl_max));
    look_at_nodes();
}

/// As an operator does it: the next node is away when the last one is ready for everybody and has
/// all that is held. Only what is extended counts, for the rest need not outlive its ttl.
void simulation::look_at_nodes()
{
    if (healed_)
        return;
    const bool ready = !roll_.away && all_ready();
    if (!ready)
        rules_->i19_wait();
    const bool complete = ready && rules_->i19_all_stand(roll_.over);
    if (complete && time_.elapsed() >= roll_.next)
    {
        if (roll_.left == 0)
            return heal();
        --roll_.left;
        const std::size_t others = dice_.below(plan_.nodes - 1);
        send_away((roll_.node + 1 + others) % plan_.nodes);
    }
    time_.after(dice_.between(2ms, 20ms), [this]() { look_at_nodes(); });
}

void simulation::end_rolling()
{
    rules_->i19_nodes_return(roll_.left == 0 && !roll_.away);
    rules_->i19_end();
}

bool simulation::all_ready() const
{
    return std::ranges::all_of(contenders_, [](const auto& each) {
        return !each->usable() || std::ranges::all_of(each->locks->nodes(), [](const auto& node) {
            return node.state == node_state::ready;
        });
    });
}

void simulation::send_away(std::size_t node)
{
    server& hit = network_->leads_to(node);
    const nanoseconds ttl = plan_.ttl_max;
    const fault how = plan_.faults[dice_.below(plan_.faults.size())];
    ++outcome_.faults[static_cast<std::size_t>(how)];
    roll_.node = node;
    roll_.away = true;
    roll_.since = time_.elapsed();
    nanoseconds lasts = dice_.between(0ns, dice_.below(2) ? ttl : 4 * ttl);
    switch (how)
    {
    case fault::freeze: network_->freeze(hit, lasts); break;
    case fault::crash: lasts = restart(hit); break;
    case fault::flush:
        lasts = 0ns;
        hit.flush_all();
        break;
    default:
        for (const auto& each : contenders_)
        {
            const auto direction = how == fault::block_to_server ? network::direction::to_server
                                                                 : network::direction::to_client;
            network_->block(each->index, node, direction, lasts);
        }
    }
    time_.after(lasts, [this]() {
        roll_.away = false;
        roll_.over = time_.elapsed();
        const nanoseconds pause = plan_.ttl_max;
        roll_.next = roll_.over + (dice_.below(2) ? 0ns : dice_.between(0ns, pause));
    });
}

/// With what it had, or without. @return How long it is down.
nanoseconds simulation::restart(server& node)
{
    const nanoseconds ttl = plan_.ttl_max;
    const nanoseconds lost = dice_.below(2) ? everything : 0ns;
    nanoseconds down = dice_.between(0ns, dice_.below(2) ? 4 * ttl : short_time);
    // Without a quarantine, it stays away until all that it has forgotten has ended.
    if (!plan_.guarded() && lost > 0ns)
        down += ttl + ttl / 10;
    node.crash(lost, time_.elapsed() + down);
    network_->reset_all(node);
    time_.after(down, [&node]() { node.start(); });
    return down;
}

/// Whether a grant of now was asked for after the last absence began. Before it, the node that was
/// away may have been one of its quorum, and may have forgotten that.
bool simulation::is_covered() const noexcept
{
    const nanoseconds round = 2 * nanoseconds(plan_.node_timeout) + 4 * plan_.habits.longest;
    return time_.elapsed() - roll_.since > round;
}

/// Acquires in all ways, and mostly holds for long.
asio::awaitable<void> actor::hold_on()
{
    while (!sim_.healed_ && by_.usable())
    {
        co_await pause(dice_.between(0ns, nanoseconds(sim_.plan_.ttl_max) / 2));
        if (sim_.healed_ || !by_.usable())
            break;
        switch (dice_.below(8))
        {
        case 0:
        case 1: co_await acquire_and_use(); break;
        case 2:
        case 3: co_await hold_with_lock(); break;
        case 4:
        case 5: co_await lead(); break;
        default: co_await extend_by_itself(); break;
        }
    }
}

acquire_options actor::draw_long_hold()
{
    const plan& in = sim_.plan_;
    acquire_options options;
    options.ttl = dice_.between(in.ttl_max / 2, in.ttl_max);
    options.wait = dice_.between(0ms, 30 * in.ttl_max);
    options.auto_extend = true;
    return options;
}

asio::awaitable<void> actor::extend_by_itself()
{
    const auto executor = sim_.context_->get_executor();
    const std::string resource = draw_resource();
    const acquire_options options = draw_long_hold();
    const fencing_token before = sim_.rules_->highest(resource);
    auto asking = by_.locks->async_acquire(resource, options);
    const auto asked = launch(sim_.calls_, executor, "acquire", std::move(asking));
    co_await completion(*asked);
    redlock::lease held = std::move(std::get<1>(asked->outcome));
    if (!held || !by_.in->alive())
        co_return;
    {
        claim_guard mine(*sim_.rules_, sim_.rules_->begin(make_claim(held, options), before));
        co_await stay(held, *mine);
        sim_.rules_->end_grace(*mine);
    }
    const auto released = launch(sim_.calls_, executor, "release", held.async_release());
    co_await completion(*released);
}

asio::awaitable<void> actor::hold_with_lock()
{
    const std::string resource = draw_resource();
    const acquire_options options = draw_long_hold();
    const fencing_token before = sim_.rules_->highest(resource);
    const auto body = [this, before, &options](redlock::lease& held) -> asio::awaitable<void> {
        claim_guard mine(*sim_.rules_, sim_.rules_->begin(make_claim(held, options), before));
        mine.releases_with_its_end();
        co_await stay(held, *mine);
    };
    auto spawned = asio::co_spawn(
        *sim_.context_, redlock::with_lock(*by_.locks, resource, options, body), asio::deferred
    );
    const auto executor = sim_.context_->get_executor();
    const auto started = launch(sim_.calls_, executor, "with_lock", std::move(spawned));
    co_await completion(*started);
}

/// One term. What runs on the real clock, the pause between two and the watchdog, is left out.
asio::awaitable<void> actor::lead()
{
    const std::string resource = draw_resource();
    const acquire_options drawn = draw_long_hold();
    const fencing_token before = sim_.rules_->highest(resource);
    const lead_options options{.ttl = drawn.ttl, .pause = 0ms, .watchdog = false};
    const auto body = [this, before, &drawn](redlock::term& now) -> asio::awaitable<void> {
        try
        {
            claim_guard mine(
                *sim_.rules_, sim_.rules_->begin(make_claim(now.held(), drawn), before)
            );
            mine.releases_with_its_end();
            co_await stay(now.held(), *mine);
        }
        catch (const boost::system::system_error&)
        {
        }
        throw end_of_term();
    };
    auto spawned = asio::co_spawn(
        *sim_.context_, redlock::lead(*by_.locks, resource, options, body), asio::deferred
    );
    const auto executor = sim_.context_->get_executor();
    const auto started = launch(sim_.calls_, executor, "lead", std::move(spawned));
    co_await completion(*started);
}

/// Holds something that is extended, for a while or until all nodes have been away.
asio::awaitable<void> actor::stay(const redlock::lease& held, claim& mine)
{
    const nanoseconds ttl = sim_.plan_.ttl_max;
    const bool to_the_end = dice_.below(2);
    const nanoseconds until = sim_.time_.elapsed() + dice_.between(0ns, 15 * ttl);
    mine.extended = true;
    mine.covered = sim_.is_covered();
    mine.cut_short = true;  // Unless it gets to its end.
    while (!sim_.healed_ && !mine.seen_over && (to_the_end || sim_.time_.elapsed() < until))
    {
        co_await pause(dice_.between(0ns, ttl / 2));
        if (mine.seen_over || dice_.below(4) != 0)
            continue;
        if (dice_.below(2))
            co_await touch_store(held);
        else if (by_.usable())
            co_await inspect(held, mine);
    }
    mine.cut_short = false;
}

}  // namespace redlock::sim
