#include "client/holds.hpp"
#include "client/validate.hpp"
#include "core/validity.hpp"
#include "loop/suspension.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

/// How holds are extended.
namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/** An extension of a hold, which learns from each answer whether that node has it.

    Once the hold is over, what wasn't written yet isn't written: it would take the hold again.
*/
class extension_round final : public round
{
public:
    extension_round(subject of, turn& end_of_turn, const std::shared_ptr<hold>& held)
        : round(std::move(of), end_of_turn), held_(held), expected_(held->standing())
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override
    {
        const bool granted = answer.vote == vote::granted;
        const bool has_again = granted && answer.why == reason::gone;
        if (!granted || has_again || !expected_.test(node))
        {
            if (const auto held = held_.lock())
                held->kept_by->on_vote(*held, node, granted, has_again);
        }
        round::on_reply(node, answer);
    }

    [[nodiscard]] bool wanted() const noexcept override
    {
        const auto held = held_.lock();
        return round::wanted() && held && held->kept;
    }

private:
    /// Not kept: a hold keeps its client, and a client's nodes keep what they are asked.
    std::weak_ptr<hold> held_;
    node_set expected_;  ///< From which a grant is no news.
};

/// How long late answers help an automatic extension. If they are lost, there's still time to ask
/// again.
time_point patience_of(const hold& held, core::instant now)
{
    return core::shifted(now, core::remaining(now, held.valid_until()) / 2).steady;
}

}  // namespace

/// Waits until it's admitted, `limit` or the hold ends. Without a quorum of ready nodes it isn't,
/// but the others are asked anyway, to say why.
task<result<room>> holds::until_admitted(std::shared_ptr<hold> held, time_point limit)
{
    window& under_way = extensions_;
    if (under_way.has_room())
        co_return room(under_way);
    if (under_way.closed())
        co_return room();
    room_wait wait(*loop_.end_of_turn);
    const core::instant end = held->valid_until();
    under_way.wait(wait, end.boot);
    const time_point until = std::min(end.steady, limit);
    if (const error_code ec = co_await life_.sleep_until(wait.sleep, until, held->extending_waits))
        co_return ec;
    room taken = wait.take();
    if (!taken && loop_.now().steady >= limit)
        co_return error_code(error::overloaded);
    co_return taken;
}

/// Puts the extension to all nodes, and once more if only its time was wrong.
task<result<round_ptr>> holds::ask_to_extend(
    std::shared_ptr<hold> held,
    milliseconds ttl,
    room taken,
    bool automatic
)
{
    for (bool corrected = false;; corrected = true)
    {
        room now_taken = corrected ? room(extensions_) : std::move(taken);
        const auto asked = rounds_.make<extension_round>(
            {.what = verb::extend,
             .attempt = held->granted_by().attempt(),
             .ttl = held->lives(ttl).of_keys(),
             .announced = held->announced},
            held
        );
        asked->occupy(std::move(now_taken));
        if (automatic)
            asked->be_patient(*loop_.timer, patience_of(*held, loop_.now()));
        rounds_.put_to_all(asked);
        if (const error_code ec = co_await asked->wait(held->extending_waits))
        {
            asked->abandon();
            co_return ec;
        }
        const core::instant now = loop_.now();
        const bool late = held->over_at(now);
        const error_code outcome = late ? error::lease_lost : asked->outcome();
        events_.round_ended(*asked, outcome, now);
        extensions_.on_round(
            asked->started().steady,
            now.steady,
            outcome != error::quorum_unreachable && outcome != error::overloaded
        );
        fencing_token unused;
        const bool granted = asked->succeeded();
        // The other nodes must extend it too, or the next node failure costs the lease.
        if (!granted)
            asked->abandon();
        if (!granted && !late && !corrected && rounds_.times().lacks_times(*asked))
        {
            if (const error_code ec = co_await rounds_.until_time_is_told(*asked, life_))
                co_return ec;
        }
        if (granted || corrected || !rounds_.times().correct(*asked, unused))
            co_return asked;
    }
}

/// What the answers mean for the hold, at `now`.
error_code holds::settle(hold& held, const round& asked, milliseconds ttl, core::instant now)
{
    const error_code outcome = asked.outcome();
    // One mark is enough, because the next quorum would need that node.
    if (asked.count_of(reason::revoked) > 0)
        revoke(held);
    // The quorum must have been seen before the old deadline: after that the lease has expired, and
    // an expired lease is never revived.
    const auto until = held.lives(ttl).end(asked.started());
    if (!outcome && held.state()->extend(now, until))
        return held.revoked() ? error::revoked : error_code();
    // Only a majority that denies ends it before its deadline. A minority may still have the key,
    // but that holds nothing for us.
    if (outcome && outcome != error::lease_lost && !held.over_at(now))
        return held.revoked() ? error::revoked : outcome;
    held.note_extension(outcome);
    lose(held, core::hold_end::lost);
    return error::lease_lost;
}

/// Why the hold can't be extended now.
error_code holds::why_not(const hold& held, milliseconds ttl) const
{
    if (!life_.running())
        return error::not_running;
    const core::instant now = loop_.now();
    switch (held.state()->phase_at(now))
    {
    case core::hold_phase::over: return error::lease_lost;
    case core::hold_phase::revoked: return error::revoked;
    case core::hold_phase::held: break;
    }
    if (held.beyond_limit(core::shifted(now, ttl)))
        return error::hold_limit_reached;
    return {};
}

/// A ttl from `now` on that ends with the deadline.
milliseconds holds::ttl_to_deadline(const hold& held, core::instant now) const
{
    const auto left = std::chrono::ceil<milliseconds>(core::remaining(now, held.valid_until()));
    const core::lifetime lives = held.lives(left);
    const auto ttl = std::chrono::ceil<milliseconds>(left + lives.drift());
    // Right after the acquisition, rounding up would exceed what a quarantine allows for.
    const client_config& config = rounds_.config();
    return config.mode == mode::guarded ? std::min(ttl, config.ttl_max - lives.grace) : ttl;
}

task<error_code> holds::extend(
    std::shared_ptr<hold> held,
    milliseconds ttl,
    room taken,
    time_point limit
)
{
    const std::string problem = problem_of_ttl(rounds_.config(), held->lives(ttl));
    if (!problem.empty())
    {
        events_.problem(log_level::error, "extend", held->resource(), problem);
        co_return error::invalid_argument;
    }
    if (const error_code ec = why_not(*held, ttl))
        co_return ec;

    const bool automatic = static_cast<bool>(taken);
    std::optional<room> got;
    if (automatic)
    {
        got.emplace(std::move(taken));
    }
    else
    {
        auto waited = co_await until_admitted(held, limit);
        if (!waited)
            co_return waited.error();
        got.emplace(std::move(*waited));
        // That may have taken long.
        if (const error_code ec = why_not(*held, ttl))
            co_return ec;
    }
    held->begin_extension(ttl);
    auto answered = co_await ask_to_extend(held, ttl, std::move(*got), automatic);
    if (!answered)
        co_return answered.error();

    const core::instant now = loop_.now();
    const error_code outcome = settle(*held, **answered, ttl, now);
    if (outcome != error::lease_lost)  // Then it is noted why.
        held->note_extension(outcome);
    events_.extended(*held, outcome, now);
    watchers_.on_change(held->resource());
    if (!outcome)
        tell_of_missing_votes(*held);
    co_return outcome;
}

task<error_code> holds::take_again(std::shared_ptr<hold> held, room taken)
{
    const core::instant now = loop_.now();
    // It may have waited to be admitted.
    if (held->state()->phase_at(now) != core::hold_phase::held || !life_.running())
        co_return error::lease_lost;
    const milliseconds ttl = ttl_to_deadline(*held, now);
    held->begin_extension(ttl);
    const auto answered = co_await ask_to_extend(held, ttl, std::move(taken), true);
    if (answered && (*answered)->count_of(reason::revoked) > 0)
        revoke(*held);
    co_return answered ? error_code() : answered.error();
}

void holds::on_vote(hold& held, std::size_t node, bool granted, bool has_again)
{
    held.votes.on_vote(node, granted);
    if (!held.kept)
        return;
    set_at_risk(held, held.standing().count());
    if (!has_again || rounds_.config().mode == mode::plain)
        return;
    // The key was set again with what an extension carries, and in guarded mode a key has more.
    rounds_.put(
        node,
        rounds_.make<round>(
            {.what = verb::restore,
             .attempt = held.granted_by().attempt(),
             .announced = held.announced}
        )
    );
}

void holds::tell_of_missing_votes(hold& held)
{
    const roster& nodes = rounds_.nodes();
    const node_set votes = held.standing();
    if (votes.count() == nodes.size())
    {
        held.lacking_since = 0ns;
        return;
    }
    const core::nanoseconds now = time_.read(loop_.now());
    if (held.lacking_since == 0ns)
        held.lacking_since = now;
    if (now - held.lacking_since <= 2 * held.longest_ttl)
        return;
    for (std::size_t node = 0; node < nodes.size(); ++node)
    {
        if (votes.test(node) || missed_.test(node))
            continue;
        missed_.set(node);
        const std::string text =
            "only " + std::to_string(votes.count()) + " of " + std::to_string(nodes.size()) +
            " nodes have it, for more than two ttl; missing: " + nodes[node].status().node;
        events_.problem(log_level::warning, "extend", held.resource(), text);
    }
}

}  // namespace redlock::detail
