#include "client/extension_round.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/limits.hpp"
#include "core/validity.hpp"
#include "loop/suspension.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

/// Waits for a place until `limit` or the hold ends. Without a quorum of ready nodes there is none,
/// but the others are asked anyway, to say why.
task<result<place>> until_placed(std::shared_ptr<hold> held, time_point limit)
{
    client_impl& client = *held->client();
    window& places = client.extensions;
    if (places.has_room())
        co_return place(places);
    if (places.closed())
        co_return place();
    place_wait wait(*client.loop.end_of_turn);
    const core::instant end = held->valid_until();
    places.wait(wait, end.boot);
    const time_point until = std::min(end.steady, limit);
    if (const error_code ec =
            co_await client.life.sleep_until(wait.sleep, until, held->extending_waits))
        co_return ec;
    place taken = wait.take();
    if (!taken && client.now().steady >= limit)
        co_return error_code(error::overloaded);
    co_return taken;
}

/// How long late answers help an automatic extension. If they are lost, there's still time to ask
/// again.
time_point patience_of(const hold& held)
{
    const core::instant now = held.client()->now();
    return core::shifted(now, core::remaining(now, held.valid_until()) / 2).steady;
}

/// Puts the extension to all nodes, and once more if only its time was wrong.
task<result<round_ptr>> ask(
    std::shared_ptr<hold> held,
    milliseconds ttl,
    place taken,
    bool automatic
)
{
    client_impl& client = *held->client();
    for (bool corrected = false;; corrected = true)
    {
        place now_taken = corrected ? place(client.extensions) : std::move(taken);
        const auto asked = client.rounds.make<extension_round>(
            {.what = verb::extend,
             .attempt = held->granted_by().attempt(),
             .ttl = ttl + held->grace(),
             .announced = held->announced},
            held
        );
        asked->occupy(std::move(now_taken));
        if (automatic)
            asked->be_patient(*client.loop.timer, patience_of(*held));
        client.rounds.put_to_all(asked);
        if (const error_code ec = co_await asked->wait(held->extending_waits))
        {
            asked->abandon();
            co_return ec;
        }
        const core::instant now = client.now();
        const bool late = held->over_at(now);
        const error_code outcome = late ? error::lease_lost : asked->outcome();
        client.events.round_ended(*asked, outcome, now);
        client.extensions.on_round(
            asked->started().steady,
            now.steady,
            outcome != error::quorum_unreachable && outcome != error::overloaded
        );
        fencing_token unused;
        const bool granted = asked->succeeded();
        // The other nodes must extend it too, or the next node failure costs the lease.
        if (!granted)
            asked->abandon();
        if (!granted && !late && !corrected && client.rounds.times().lacks_times(*asked))
        {
            if (const error_code ec = co_await until_time_is_told(client, *asked))
                co_return ec;
        }
        if (granted || corrected || !client.rounds.times().correct(*asked, unused))
            co_return asked;
    }
}

/// What the answers mean for the hold, at `now`.
error_code settle(hold& held, const round& asked, milliseconds ttl, core::instant now)
{
    client_impl& client = *held.client();
    const error_code outcome = asked.outcome();
    // One mark is enough, because the next quorum would need that node.
    if (asked.count_of(reason::revoked) > 0)
        client.holds.revoke(held);
    // The quorum must have been seen before the old deadline: after that the lease has expired, and
    // an expired lease is never revived.
    const auto until =
        core::valid_until(asked.started(), ttl, client.config.clock_drift, held.grace());
    if (!outcome && held.state()->extend(now, until))
        return held.revoked() ? error::revoked : error_code();
    // Without a majority it's over, whatever the deadline says. A minority may still have the key,
    // but that holds nothing for us.
    if (outcome && outcome != error::lease_lost && !held.over_at(now))
        return held.revoked() ? error::revoked : outcome;
    held.note_extension(outcome);
    client.holds.lose(held, core::hold_end::lost);
    return error::lease_lost;
}

/// Why the hold can't be extended now.
error_code why_not(const hold& held, milliseconds ttl)
{
    const client_impl& client = *held.client();
    if (!client.life.running())
        return error::not_running;
    const core::instant now = client.now();
    if (held.over_at(now))
        return error::lease_lost;
    if (held.revoked())
        return error::revoked;
    if (held.beyond_limit(core::shifted(now, ttl)))
        return error::hold_limit_reached;
    return {};
}

/// A ttl from `now` on that ends with the deadline.
milliseconds ttl_to_deadline(const hold& held, core::instant now)
{
    const auto left = std::chrono::ceil<milliseconds>(core::remaining(now, held.valid_until()));
    const client_config& config = held.client()->config;
    const auto ttl = std::chrono::ceil<milliseconds>(
        left + core::clock_drift(left + held.grace(), config.clock_drift)
    );
    // Right after the acquisition, rounding up would exceed what a quarantine allows for.
    const bool is_guarded = config.mode == mode::guarded;
    return is_guarded ? std::min(ttl, config.ttl_max - held.grace()) : ttl;
}

}  // namespace

task<error_code> extend(std::shared_ptr<hold> held, milliseconds ttl, place taken, time_point limit)
{
    client_impl& client = *held->client();
    if (const auto problem = problem_of_ttl(client.config, ttl, held->grace()); !problem.empty())
    {
        client.events.problem(log_level::error, "extend", held->resource(), problem);
        co_return error::invalid_argument;
    }
    if (const error_code ec = why_not(*held, ttl))
        co_return ec;

    const bool automatic = static_cast<bool>(taken);
    std::optional<place> got;
    if (automatic)
    {
        got.emplace(std::move(taken));
    }
    else
    {
        auto waited = co_await until_placed(held, limit);
        if (!waited)
            co_return waited.error();
        got.emplace(std::move(*waited));
        // That may have taken long.
        if (const error_code ec = why_not(*held, ttl))
            co_return ec;
    }
    held->begin_extension(ttl);
    auto answered = co_await ask(held, ttl, std::move(*got), automatic);
    if (!answered)
        co_return answered.error();

    const core::instant now = client.now();
    const error_code outcome = settle(*held, **answered, ttl, now);
    if (outcome != error::lease_lost)  // Then it is noted why.
        held->note_extension(outcome);
    client.events.extended(*held, outcome, now);
    client.watchers.on_change(held->resource());
    if (!outcome)
        client.holds.tell_of_missing_votes(*held);
    co_return outcome;
}

task<error_code> take_again(std::shared_ptr<hold> held, place taken)
{
    const core::instant now = held->client()->now();
    // It may have waited for its place.
    if (held->over_at(now) || held->revoked() || !held->client()->life.running())
        co_return error::lease_lost;
    const milliseconds ttl = ttl_to_deadline(*held, now);
    held->begin_extension(ttl);
    const auto answered = co_await ask(held, ttl, std::move(taken), true);
    if (answered && (*answered)->count_of(reason::revoked) > 0)
        held->client()->holds.revoke(*held);
    co_return answered ? error_code() : answered.error();
}

namespace {

/// Extends the hold of one lease. Fails if that lease ends first.
task<error_code> extend_lease(std::shared_ptr<share> asked_by, milliseconds ttl)
{
    const error_code outcome = co_await extend(asked_by->held(), ttl);
    // What others share may last without it.
    co_return !outcome && asked_by->ended() ? error_code(error::lease_lost) : outcome;
}

task<error_code> announce(std::shared_ptr<share> asked_by, note text)
{
    client_impl& client = *asked_by->held()->client();
    if (client.config.mode == mode::plain)
    {
        client.events.problem(
            log_level::error,
            "announce",
            asked_by->held()->resource(),
            "note needs guarded mode, but the client is in plain mode"
        );
        co_return error::invalid_argument;
    }
    asked_by->held()->announce(text, client.rounds.times().now());
    const milliseconds ttl = asked_by->ttl();
    co_return co_await extend_lease(std::move(asked_by), ttl);
}

/// Starts `body` for a lease that isn't over.
template <class Body>
void start_with(to_share asked_by, handler_of<> handler, Body body)
{
    if (!asked_by)
        return std::move(handler)(error::invalid_argument);
    if (asked_by->ended())
        return std::move(handler)(error::lease_lost);
    const auto client = asked_by->held()->client();
    spawn_op(*client, body(std::move(asked_by)), std::move(handler));
}

}  // namespace

void start_extend(handler_of<> handler, to_share asked_by, std::optional<milliseconds> ttl)
{
    start_with(std::move(asked_by), std::move(handler), [ttl](to_share of) {
        const milliseconds wanted = ttl.value_or(of->ttl());
        return extend_lease(std::move(of), wanted);
    });
}

void start_announce(handler_of<> handler, to_share asked_by, note text)
{
    start_with(std::move(asked_by), std::move(handler), [&text](to_share of) {
        return announce(std::move(of), std::move(text));
    });
}

}  // namespace redlock::detail
