#include "sim/actor.hpp"

#include <redlock/diagnostics.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "sim/claim_guard.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

}  // namespace

asio::awaitable<void> actor::work(std::size_t index)
{
    if (sim_.plan_.of == profile::overloaded)
        co_await take_one_of_burst(index);
    if (sim_.plan_.of == profile::lines)
        co_await stand_in_line();
    if (sim_.plan_.of == profile::crowd)
        co_await stay_in_crowd();
    if (sim_.plan_.of == profile::rolling)
        co_await hold_on();
    const bool is_done = sim_.plan_.has_load() || sim_.plan_.of == profile::rolling;
    const std::size_t rounds = is_done ? 0 : sim_.plan_.rounds;
    for (std::size_t round = 0; round < rounds; ++round)
    {
        co_await pause(dice_.between(0ns, nanoseconds(sim_.plan_.ttl_max) / 2));
        if (!by_.usable())
            break;
        if (dice_.below(5) == 0)
            co_await use_with_lock();
        else
            co_await acquire_and_use();
    }
    --by_.actors;
}

asio::awaitable<void> actor::probe()
{
    const auto executor = sim_.context_->get_executor();
    for (std::size_t i = 0; i < sim_.plan_.resources; ++i)
    {
        acquire_options options;
        options.ttl = sim_.plan_.ttl_max;
        options.wait = 90s;
        auto asking = by_.locks->async_acquire("r" + std::to_string(i), options);
        const auto asked = launch(sim_.calls_, executor, "probe", std::move(asking));
        co_await completion(*asked);
        auto& [failure, held] = asked->outcome;
        if (sim_.clocks_agree())
            sim_.rules_->i9_is_alive(!failure, failure.message());
        if (failure)
            continue;
        auto release = held.async_release();
        const auto released = launch(sim_.calls_, executor, "release", std::move(release));
        co_await completion(*released);
    }
    --sim_.probes_;
}

asio::awaitable<void> actor::pause(nanoseconds duration)
{
    const auto wait = [this, duration](auto handler) {
        const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        process& in = *by_.in;
        in.call_at(in.now().steady + duration, in.new_stream(), [this, kept]() {
            asio::post(*sim_.context_, std::move(*kept));
        });
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        wait, asio::use_awaitable
    );
}

acquire_options actor::draw_options()
{
    const plan& in = sim_.plan_;
    acquire_options options;
    const milliseconds least = std::max(in.node_timeout + 5ms, in.ttl_max / 3);
    options.ttl = dice_.between(least, in.ttl_max);
    options.wait = dice_.below(4) == 0 ? 0ms : dice_.between(0ms, 3 * in.ttl_max);
    options.auto_extend = dice_.below(3) == 0;
    if (dice_.below(4) == 0)
        options.owner = static_cast<redlock::owner>(1 + dice_.below(2));
    if (dice_.below(6) == 0)
        options.hold_max = dice_.between(1ms, 3 * in.ttl_max);
    if (in.lingers && dice_.below(2) == 0)
        options.grace = dice_.between(0ms, in.ttl_max - options.ttl);
    if (in.lingers && dice_.below(2) == 0)
        options.at_least = dice_.between(0ms, in.longest_at_least());
    return options;
}

std::string actor::draw_resource()
{
    return "r" + std::to_string(dice_.below(sim_.plan_.resources));
}

std::size_t actor::draw_steps()
{
    return sim_.plan_.cancels && dice_.below(3) == 0 ? 1 + dice_.below(40) : 0;
}

claim actor::make_claim(const redlock::lease& held, const acquire_options& options) const
{
    claim made;
    made.held = &held;
    made.in = by_.in.get();
    made.client = by_.index;
    made.resource = held.resource();
    made.owner = options.owner;
    made.token = held.fence();
    // Those who share a hold have the grace of the first one.
    if (options.owner == redlock::owner::none)
        made.grace = options.grace;
    return made;
}

asio::awaitable<void> actor::acquire_and_use()
{
    const auto executor = sim_.context_->get_executor();
    const std::string resource = draw_resource();
    acquire_options options = draw_options();
    diagnostics report;
    if (dice_.below(5) == 0)
        options.report = &report;

    if (sim_.plan_.guarded() && sim_.rules_->highest(resource) && dice_.below(8) == 0)
        co_await revoke(resource);
    if (sim_.plan_.lingers && dice_.below(12) == 0)
        co_await free(resource);
    const fencing_token before = sim_.rules_->highest(resource);
    auto asking = dice_.below(3) == 0 ? by_.locks->async_try_acquire(resource, options)
                                      : by_.locks->async_acquire(resource, options);
    const auto asked = launch(sim_.calls_, executor, "acquire", std::move(asking), draw_steps());
    co_await completion(*asked);
    redlock::lease held = std::move(std::get<1>(asked->outcome));
    if (!held || !by_.in->alive())
        co_return;

    claim_guard mine(*sim_.rules_, sim_.rules_->begin(make_claim(held, options), before));
    std::shared_ptr<call<error_code>> lost;
    if (dice_.below(2) == 0)
    {
        lost = launch(sim_.calls_, executor, "wait_lost", held.async_wait_lost());
        sim_.rules_->set_wait_lost(*mine, lost);
    }
    co_await use(held, *mine);
    co_await part_with(held, mine.kept(), options.at_least);
    if (lost)
        co_await completion(*lost);
}

asio::awaitable<void> actor::use_with_lock()
{
    const std::string resource = draw_resource();
    const acquire_options options = draw_options();
    const fencing_token before = sim_.rules_->highest(resource);
    const auto body = [this, before, &options](redlock::lease& held) -> asio::awaitable<void> {
        if (!by_.in->alive())
            co_return;
        claim_guard mine(*sim_.rules_, sim_.rules_->begin(make_claim(held, options), before));
        mine.releases_with_its_end();
        co_await use(held, *mine);
    };
    auto spawned = asio::co_spawn(
        *sim_.context_, redlock::with_lock(*by_.locks, resource, options, body), asio::deferred
    );
    const auto started = launch(
        sim_.calls_, sim_.context_->get_executor(), "with_lock", std::move(spawned), draw_steps()
    );
    co_await completion(*started);
}

asio::awaitable<void> actor::use(redlock::lease& held, claim& mine)
{
    for (std::size_t left = 1 + dice_.below(3); left > 0; --left)
    {
        const nanoseconds longest = sim_.plan_.ttl_max;
        co_await pause(dice_.between(0ns, dice_.below(3) == 0 ? 2 * longest : longest / 4));
        if (!by_.in->alive() || (mine.seen_over && sim_.plan_.of != profile::late_actors))
            co_return;
        // Those who share a hold have to agree on who writes by themselves.
        const bool alone = mine.owner == redlock::owner::none || sim_.plan_.actors == 1;
        if (alone && dice_.below(2) == 0)
            co_await touch_store(held);
        else if (by_.usable() && dice_.below(4) == 0)
            co_await inspect(held, mine);
        else if (by_.usable() && sim_.plan_.guarded() && dice_.below(6) == 0)
            co_await revoke(mine.resource);
        else if (by_.usable())
            co_await extend(held);
    }
}

/// Reads, thinks and writes. Whether it may is the store's business, by the token.
asio::awaitable<void> actor::touch_store(const redlock::lease& held)
{
    const std::string resource(held.resource());
    const fencing_token token = held.fence();
    const nanoseconds thinking = dice_.between(0ns, nanoseconds(sim_.plan_.ttl_max) / 2);
    invariants& rules = *sim_.rules_;
    if (sim_.plan_.of == profile::late_actors)
    {
        const std::uint64_t version = rules.read_unfenced(resource);
        co_await pause(thinking);
        if (by_.in->alive())
            rules.write_unfenced(resource, version);
        co_return;
    }
    if (!token)
        co_return;
    const auto version = rules.read_store(resource, token);
    if (!version)
        co_return;
    co_await pause(thinking);
    if (by_.in->alive())
        rules.write_store(resource, token, *version);
}

asio::awaitable<void> actor::extend(redlock::lease& held)
{
    const auto executor = sim_.context_->get_executor();
    const acquire_options drawn = draw_options();
    const bool announces = sim_.plan_.guarded() && dice_.below(3) == 0;
    const std::string text = "note " + std::to_string(dice_.below(100));
    const std::size_t steps = draw_steps();
    const auto asked =
        announces ? launch(sim_.calls_, executor, "announce", held.async_announce(text), steps)
                  : launch(sim_.calls_, executor, "extend", held.async_extend(drawn.ttl), steps);
    co_await completion(*asked);
}

/// Asks who holds what it holds.
asio::awaitable<void> actor::inspect(const redlock::lease& held, const claim& mine)
{
    const auto executor = sim_.context_->get_executor();
    auto asking = by_.locks->async_inspect(held.resource());
    const auto asked = launch(sim_.calls_, executor, "inspect", std::move(asking), draw_steps());
    co_await completion(*asked);
    const auto& [failure, seen] = asked->outcome;
    if (!failure && sim_.plan_.keeps_promises() && sim_.plan_.looks && by_.in->alive() &&
        !held.expired())
        sim_.rules_->i14_a_view_fits(mine, seen);
}

/// Revokes the latest hold of a resource, of whatever client.
asio::awaitable<void> actor::revoke(std::string resource)
{
    const fencing_token token = sim_.rules_->highest(resource);
    sim_.rules_->i19_excuse(resource, token);
    auto asking = by_.locks->async_revoke(resource, token);
    const auto asked = launch(
        sim_.calls_, sim_.context_->get_executor(), "revoke", std::move(asking), draw_steps()
    );
    co_await completion(*asked);
    const auto& [failure, made] = asked->outcome;
    if (!by_.in->alive() || !sim_.plan_.keeps_promises())
        co_return;
    if (!failure)
        sim_.rules_->i15_ends_by(resource, token, by_.in->when(made.until));
    else if (failure == error::no_such_hold)
        sim_.rules_->i15_ends_by(resource, token, sim_.time_.elapsed());
}

/// Gives the lease back, drops it, or leaves it to its ttl.
asio::awaitable<void> actor::part_with(redlock::lease& held, claim_ptr& mine, milliseconds at_least)
{
    const std::string resource = mine->resource;
    const fencing_token token = mine->token;
    const auto end_claim = [this, &mine]() {
        if (const auto ended = std::exchange(mine, nullptr))
            sim_.rules_->end(ended);
    };
    switch (dice_.below(8))
    {
    case 0: co_await pause(2 * nanoseconds(sim_.plan_.ttl_max)); break;
    case 1:
        if (sim_.plan_.calm)
            break;
        end_claim();
        held.abandon();
        break;
    case 2:
    case 3:
        end_claim();
        held = redlock::lease();
        break;
    default: break;
    }
    if (!held || !by_.in->alive())
    {
        end_claim();
        co_return;
    }
    sim_.rules_->end_grace(*mine);
    end_claim();
    auto releasing = held.async_release();
    const auto released = launch(
        sim_.calls_, sim_.context_->get_executor(), "release", std::move(releasing), draw_steps()
    );
    co_await completion(*released);
    // A node that forgets sits out a quarantine, which covers `ttl_max` from now on.
    const auto& [failure, outcome] = released->outcome;
    const auto until =
        std::chrono::microseconds(static_cast<std::int64_t>(token.value())) + at_least;
    const bool is_covered = at_least + sim_.plan_.clock_window <= sim_.plan_.ttl_max;
    if (at_least > 0ms && is_covered && !failure && outcome == release_outcome::released)
        sim_.rules_->i17_keeps_until(resource, token, until);
}

asio::awaitable<void> actor::free(std::string resource)
{
    sim_.rules_->begin_free(resource);
    const auto asked = launch(
        sim_.calls_,
        sim_.context_->get_executor(),
        "free",
        by_.locks->async_free(resource),
        draw_steps()
    );
    co_await completion(*asked);
    sim_.rules_->end_free(resource);
}

}  // namespace redlock::sim
