#include "client/inquiry.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/hold_value.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace redlock::detail {

namespace {

std::string problem_of_freeing(const client_config& config, const demand& about)
{
    if (config.mode == mode::plain)
        return "freeing needs guarded mode, but the client is in plain mode";
    return problem_of_resource(config, about);
}

/// The latest hold after which a node keeps the resource. Empty: none does.
fencing_token latest_kept(const round& seen)
{
    fencing_token latest;
    seen.for_each_answer([&](const reply& answer) {
        if (answer.vote != vote::granted)
            return;
        const core::hold_value value = core::read_hold_value(answer.text);
        if (value.kept)
            latest = std::max(latest, value.token);
    });
    return latest;
}

/// Whether enough nodes have said what they know.
bool is_quorum(const round& seen)
{
    return seen.tally().granted() >= seen.voters().quorum();
}

/// What the nodes know, once more if too few of them were connected yet.
task<result<round_ptr>> look(client_impl& client, std::shared_ptr<const demand> about)
{
    for (bool again = false;; again = true)
    {
        auto taken = co_await until_askable(client);
        if (!taken)
            co_return taken.error();
        auto by = client.rounds.new_attempt(about, fencing_token());
        const auto seen = ask_views(client, std::move(by), std::move(*taken));
        if (const error_code ec = co_await until_told(client, *seen))
            co_return ec;
        seen->abandon();
        if (again || is_quorum(*seen))
            co_return seen;
        const auto worth = co_await is_worth_asking_again(client);
        if (!worth)
            co_return worth.error();
        if (!*worth)
            co_return seen;
    }
}

/** Looks first, so that a command that arrives late deletes nothing that is kept later.

    What it hasn't seen, because the node doesn't vote, stays until its time ends.
*/
task<result<release_outcome>> free_kept(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about
)
{
    client_impl& client = *self;
    if (const auto problem = problem_of_freeing(client.config, *about); !problem.empty())
    {
        client.events.problem(log_level::error, "free", about->resource(), problem);
        co_return error::invalid_argument;
    }
    const auto seen = co_await look(client, about);
    if (!seen)
        co_return seen.error();
    const fencing_token latest = latest_kept(**seen);
    if (!latest && (*seen)->was_too_much())
        co_return error::overloaded;
    if (!latest)
        co_return is_quorum(**seen) ? release_outcome::already_gone : release_outcome::unconfirmed;
    auto taken = co_await until_askable(client);
    if (!taken)
        co_return taken.error();
    auto by = client.rounds.attempt_of(std::move(about), latest);
    const auto asked = client.rounds.make<round>({.what = verb::free, .attempt = std::move(by)});
    asked->occupy(std::move(*taken));
    client.rounds.put_to_all(asked);
    if (const error_code ec = co_await until_told(client, *asked))
        co_return ec;
    if (!asked->succeeded())
        asked->abandon();
    if (!asked->succeeded() && asked->was_too_much())
        co_return error::overloaded;
    co_return outcome_of(*asked);
}

}  // namespace

void start_free_kept(handler_of<release_outcome> handler, to_client self, demand about)
{
    spawn_op(*self, free_kept(self, self->keep_addressed(std::move(about))), std::move(handler));
}

}  // namespace redlock::detail
