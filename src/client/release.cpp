#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "loop/suspension.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

/// How often to look whether all nodes have answered.
constexpr milliseconds between_looks{2};

/// Lets the nodes that a quorum doesn't need say that they keep the resource too. Fails if the wait
/// is cut short.
task<error_code> until_all_answered(client_impl& client, const release_round& asked)
{
    const time_point limit = core::shifted(asked.started(), client.config.node_timeout).steady;
    while (asked.tally().missing() > 0 && client.now().steady < limit)
    {
        pause later(*client.loop.end_of_turn);
        const time_point at = core::shifted(client.now(), between_looks).steady;
        if (const error_code ec = co_await client.life.sleep_until(later, std::min(at, limit)))
            co_return ec;
    }
    co_return error_code();
}

task<result<release_outcome>> release(std::shared_ptr<share> leaving, core::lease_end ended)
{
    hold& held = *leaving->held();
    client_impl& client = *held.client();
    switch (ended)
    {
    case core::lease_end::nothing: co_return release_outcome::already_gone;
    case core::lease_end::lease:
        held.on_lease_end();
        co_return held.lost_at(client.now()) ? release_outcome::already_gone
                                             : release_outcome::still_held;
    case core::lease_end::hold: break;
    }

    const auto asked = client.holds.give_back(held);
    if (!client.life.connected())
        co_return error::not_running;
    const bool is_to_stay = held.state()->at_least() > milliseconds(0);
    auto outcome = release_outcome::already_gone;
    if (asked)
    {
        if (const error_code ec = co_await client.life.until_confirmed(*asked))
            co_return ec;
        const bool keeps = asked->what() == verb::keep;
        if (keeps && asked->succeeded())
        {
            // A quorum keeps it, whatever ends the wait.
            static_cast<void>(co_await until_all_answered(client, *asked));
        }
        outcome = outcome_of(*asked);
        // Of a lost lease, so nothing is kept.
        if (outcome == release_outcome::released && is_to_stay && !keeps)
            outcome = release_outcome::unconfirmed;
    }
    if (is_to_stay && outcome != release_outcome::released)
    {
        const bool barely = outcome == release_outcome::barely_kept;
        client.events.problem(
            log_level::warning,
            "release",
            held.resource(),
            barely ? "only a quorum keeps the resource: the loss of another node may end at_least"
                   : "at_least isn't guaranteed: no quorum keeps the resource"
        );
    }
    client.events.released(held, outcome);
    co_return outcome;
}

}  // namespace

release_outcome outcome_of(const round& release) noexcept
{
    if (!release.succeeded())
        return release_outcome::unconfirmed;
    if (release.what() == verb::keep && release.tally().barely_granted())
        return release_outcome::barely_kept;
    const bool had_key = release.tally().granted() > 0;
    return had_key ? release_outcome::released : release_outcome::already_gone;
}

void start_release(handler_of<release_outcome> handler, to_share leaving)
{
    if (!leaving)
        return std::move(handler)(error::invalid_argument, release_outcome::unconfirmed);
    // From here on the lease is over, no matter what happens to the release.
    const auto ended = leaving->end(core::leaving::release);
    const auto client = leaving->held()->client();
    spawn_op(*client, release(std::move(leaving), ended), std::move(handler));
}

}  // namespace redlock::detail
