#include <redlock/revocation.hpp>

#include "client/inquiry.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/quarantine.hpp"
#include "core/token_clock.hpp"
#include "core/validity.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::detail {

/// What the nodes have done. Has linkage, because it's part of a coroutine frame.
struct revocation_account
{
    revocation made;
    bool found = false;  ///< A node had the hold, or may have forgotten it.
};

namespace {

std::string problem_of_revocation(
    const client_config& config,
    const demand& about,
    fencing_token token
)
{
    if (config.mode == mode::plain)
        return "revocation needs guarded mode, but the client is in plain mode";
    if (!token || token.value() >= core::token_end)
        return "token is " + to_string(token) + ", must be that of a hold";
    return problem_of_resource(config, about);
}

/// @param now When the answers had arrived.
revocation_account account_of(const round& asked, core::instant now, double drift)
{
    revocation_account of{.made = {.until = now.steady}};
    asked.for_each_answer([&](const reply& answer) {
        if (answer.vote != vote::granted)
            return;
        const bool marked = answer.why == reason::none;
        const milliseconds left = answer.held_for.value_or(milliseconds(0));
        of.made.marked += marked ? 1 : 0;
        of.found = of.found || marked || left > milliseconds(0);
        if (left == milliseconds(0))
            return;
        // The node's promise ends by its own clock.
        const core::instant end =
            core::shifted(core::shifted(now, left), core::clock_drift(left, drift));
        of.made.until = std::max(of.made.until, end.steady);
    });
    return of;
}

/// Whether a node that answered may have forgotten the hold, sat out its quarantine and taken the
/// hold again while the others were still to answer.
bool took_too_long(const round& asked, core::instant now, const client_config& config)
{
    const core::nanoseconds time = -core::remaining(now, asked.started());
    const core::nanoseconds quarantine =
        core::to_nanoseconds(core::quarantine_for(config.ttl_max, config.clock_window));
    const core::nanoseconds longest_validity =
        core::to_nanoseconds(config.ttl_max) -
        core::clock_drift(config.ttl_max, config.clock_drift);
    return time > quarantine - longest_validity;
}

/// Puts the revocation to all nodes, and once more if only its time was wrong, it took too long or
/// too few nodes were connected yet.
task<result<round_ptr>> ask(client_impl& client, std::shared_ptr<const attempt> of)
{
    for (bool corrected = false, late = false, connected = false;;)
    {
        auto taken = co_await until_askable(client);
        if (!taken)
            co_return taken.error();
        const auto asked = client.rounds.make<round>({.what = verb::revoke, .attempt = of});
        asked->occupy(std::move(*taken));
        client.rounds.put_to_all(asked);
        if (const error_code ec = co_await until_told(client, *asked))
            co_return ec;
        const core::instant now = client.now();
        if (account_of(*asked, now, client.config.clock_drift).made.marked > 0)
            client.holds.revoke(of->of->resource(), of->token);
        fencing_token unused;
        const bool granted = asked->succeeded();
        if (!granted)
            asked->abandon();
        if (!granted && !std::exchange(connected, true))
        {
            const auto worth = co_await is_worth_asking_again(client);
            if (!worth)
                co_return worth.error();
            if (*worth)
                continue;
        }
        if (!granted && client.rounds.times().lacks_times(*asked))
        {
            if (const error_code ec =
                    co_await client.rounds.until_time_is_told(*asked, client.life))
                co_return ec;
        }
        const bool too_long = granted && took_too_long(*asked, now, client.config);
        bool& done = granted ? late : corrected;
        if (done || (granted ? !too_long : !client.rounds.times().correct(*asked, unused)))
            co_return asked;
        done = true;
    }
}

task<result<revocation>> revoke(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about,
    fencing_token token
)
{
    client_impl& client = *self;
    const std::string problem = problem_of_revocation(client.config, *about, token);
    if (!problem.empty())
    {
        client.events.problem(log_level::error, "revoke", about->resource(), problem);
        co_return error::invalid_argument;
    }
    const auto answered = co_await ask(client, client.rounds.attempt_of(about, token));
    if (!answered)
        co_return answered.error();
    const round& asked = **answered;
    const core::instant now = client.now();
    const revocation_account of = account_of(asked, now, client.config.clock_drift);
    if (const error_code ec = asked.outcome())
        co_return ec;
    if (!of.found)
        co_return error::no_such_hold;
    if (took_too_long(asked, now, client.config))
        co_return error::quorum_unreachable;
    co_return of.made;
}

}  // namespace

void start_revoke(handler_of<revocation> handler, to_client self, demand about, fencing_token hold)
{
    spawn_op(*self, revoke(self, self->keep_addressed(std::move(about)), hold), std::move(handler));
}

}  // namespace redlock::detail
