#include "client/operations.hpp"

namespace redlock::detail {

release_outcome outcome_of(const core::release_count& count) noexcept
{
    if (!count.confirmed())
        return release_outcome::unconfirmed;
    return count.any_deleted() ? release_outcome::released : release_outcome::already_gone;
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
        outcome = outcome_of(asked->confirmations());
        // Of a lost lease, so nothing is kept.
        const bool keeps = asked->what() == verb::keep;
        if (outcome == release_outcome::released && is_to_stay && !keeps)
            outcome = release_outcome::unconfirmed;
    }
    if (is_to_stay && outcome != release_outcome::released)
    {
        client.events.problem(
            log_level::warning,
            "release",
            held.resource(),
            "at_least isn't guaranteed: no quorum keeps the resource"
        );
    }
    client.events.released(held, outcome);
    co_return outcome;
}

}  // namespace redlock::detail
