#include "client/operations.hpp"
#include "core/limits.hpp"
#include "core/validity.hpp"

namespace redlock::detail {

namespace {

/// What the votes of an extension tell the caller. A node that denies may never have granted; only
/// when a majority does, somebody else can hold the resource.
error_code to_error(const round& asked) noexcept
{
    const core::tally& votes = asked.tally();
    if (votes.denied_by_majority())
        return error::lease_lost;
    const core::verdict verdict = votes.by_votes();
    const bool silent = verdict == core::verdict::unreachable ||
                        (verdict == core::verdict::contended && votes.failed() > 0);
    return silent ? error_code(error::quorum_unreachable) : asked.why_refused();
}

/// Puts the extension to all nodes, and once more if only its time was wrong.
task<result<std::shared_ptr<round>>> ask(std::shared_ptr<hold> held, milliseconds ttl)
{
    client_impl& client = *held->client();
    for (bool corrected = false;; corrected = true)
    {
        const auto asked = client.ask(verb::extend, held->granted_by().about(), ttl);
        if (const error_code ec = co_await client.decided(*asked))
            co_return ec;
        fencing_token unused;
        const bool granted = asked->tally().by_votes() == core::verdict::granted;
        if (granted || corrected || !client.correct_stamp(*asked, unused))
            co_return asked;
    }
}

}  // namespace

task<error_code> extend(std::shared_ptr<hold> held, milliseconds ttl)
{
    client_impl& client = *held->client();
    if (!core::valid_ttl(ttl, client.config().node_timeout, client.highest_ttl()))
        co_return error::invalid_argument;
    if (!client.running())
        co_return error::not_running;

    const core::instant before = client.now();
    if (held->over_at(before))
        co_return error::lease_lost;
    if (held->beyond_limit(core::shifted(before, ttl)))
        co_return error::hold_limit_reached;

    held->note_ttl(ttl);
    auto answered = co_await ask(held, ttl);
    if (!answered)
        co_return answered.error();

    const std::shared_ptr<round>& asked = *answered;
    const core::instant now = client.now();
    const core::tally& votes = asked->tally();
    if (votes.by_votes() == core::verdict::granted)
    {
        // The quorum must have been seen before the old deadline: after it the lease had expired,
        // and an expired lease is never revived.
        const auto until = core::valid_until(asked->started(), ttl, client.config().clock_drift);
        co_return held->prolong(now, until) ? error_code() : error::lease_lost;
    }
    // Over, whatever the deadline says. A minority may still have the key: it holds nothing for us.
    if (votes.denied_by_majority() && held->end())
        client.release(held->granted_by(), held->longest_ttl());
    co_return held->over_at(now) ? error::lease_lost : to_error(*asked);
}

}  // namespace redlock::detail
