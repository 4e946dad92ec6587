#include "client/round.hpp"

#include "core/silence.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace redlock::detail {

namespace {

/// Whether a guarded script answered, and without a grant.
bool wrote_nothing(vote counted, reason why) noexcept
{
    switch (why)
    {
    case reason::held:
    case reason::fence:
    case reason::clock:
    case reason::unmarked:
    case reason::quarantined:
    case reason::revoked: return counted != vote::granted;
    case reason::none:
    case reason::gone:
    case reason::timeout:
    case reason::connecting:
    case reason::down:
    case reason::connection_lost:
    case reason::overloaded:
    case reason::error_reply:
    case reason::rejected:
    case reason::unexpected_reply:
    case reason::config_mismatch:
    case reason::same_server:
    case reason::other_server:
    case reason::replica:
    case reason::cluster:
    case reason::eviction:
    case reason::in_use:
    case reason::too_few_replicas: break;
    }
    return false;
}

}  // namespace

core::aim aim_of(verb what) noexcept
{
    switch (what)
    {
    case verb::acquire:
    case verb::extend:
    case verb::revoke:
    case verb::keep: return core::aim::grants;
    case verb::release:
    case verb::undo:
    case verb::finish:
    case verb::free: return core::aim::answers;
    case verb::restore:
    case verb::holder:
    case verb::track:
    case verb::leave:
    case verb::inspect: break;
    }
    return core::aim::all;
}

round::round(subject of, turn& end_of_turn)
    : question(std::move(of.says)),
      suspension(end_of_turn),
      started_(of.started),
      tally_(of.voters, aim_of(what()))
{
}

void round::on_reply(std::size_t node, const reply& answer) noexcept
{
    mark_answered(node);
    take(node, answer);
    const bool enough =
        admitted_by_ && (heard() >= voters().quorum() || (!wanted() && owing().none()));
    if (enough)
        leave_window();
    if (patient_ && !decided() && !may_be_granted())
    {
        deadline::forget();
        give_up_silent();
    }
}

void round::skip(std::size_t node) noexcept
{
    on_reply(node, {vote::denied, reason::gone});
}

void round::be_patient(deadlines& timer, time_point until) noexcept
{
    patience_by_ = &timer;
    // A connection that is silent for longer is lost and then owes no answer.
    patience_end_ = std::min(until, core::shifted(started(), core::longest_silence).steady);
}

void round::abandon() noexcept
{
    abandoned_ = true;
    if (owing().none())
        leave_window();
}

void round::leave_window() noexcept
{
    if (window* const from = std::exchange(admitted_by_, nullptr))
        from->leave();
}

void round::take(std::size_t node, const reply& answer) noexcept
{
    // Votes are counted by node: anything a node says after its first answer doesn't count.
    if (counted_[node].vote)
        return;

    counted_[node] = {answer.vote, answer.why};
    keep(node, answer);
    const bool was_decided = decided();
    count(node, answer.vote);
    if (tally_.missing() == 0)
        on_complete();
    if (!was_decided && decided())
    {
        deadline::forget();
        wake({});
    }
}

void round::count(std::size_t node, vote value) noexcept
{
    tally_.on_vote(value);
    if (value == vote::granted)
    {
        const auto others = granters_.load(std::memory_order_relaxed);
        granters_.store(static_cast<std::uint16_t>(others | 1U << node), std::memory_order_relaxed);
    }
}

void round::keep(std::size_t node, const reply& answer)
{
    if (!clock_ && !answer.says_more())
        return;
    if (!answers_)
        answers_ = std::make_unique<std::array<reply, core::max_nodes>>();
    reply& kept = (*answers_)[node];
    kept = answer;
    if (clock_)
        kept.round_trip = std::chrono::duration_cast<std::chrono::microseconds>(
            clock_->now().steady - started_.steady
        );
}

void round::on_deadline()
{
    if (patience_by_ && !patient_ && may_be_granted() && due() < patience_end_)
    {
        patient_ = true;
        return patience_by_->add(*this, patience_end_);
    }
    give_up_silent();
}

void round::give_up_silent() noexcept
{
    for (std::size_t node = 0; node < voters().size(); ++node)
    {
        const reason late = sent().test(node) ? reason::timeout : reason::connecting;
        take(node, {vote::unknown, late});
    }
}

/// Whether the nodes that owe an answer can still make a quorum. A round with both a grant and a
/// denial may keep another client from winning.
bool round::may_be_granted() const noexcept
{
    const std::size_t possible = tally_.granted() + owing().count();
    const bool harmless = tally_.denied() == 0 || tally_.granted() == 0;
    return harmless && possible >= voters().quorum();
}

std::optional<reply> round::answer_of(std::size_t node) const
{
    const counted_answer& from = counted_[node];
    if (!from.vote)
        return std::nullopt;
    reply answer = answers_ ? (*answers_)[node] : reply();
    answer.vote = *from.vote;
    answer.why = from.why;
    return answer;
}

std::size_t round::count_of(redlock::reason why) const noexcept
{
    const std::span asked(counted_.data(), voters().size());
    return static_cast<std::size_t>(std::ranges::count_if(asked, [why](const auto& each) {
        return each.vote && each.why == why;
    }));
}

bool round::was_too_much() const noexcept
{
    return count_of(reason::overloaded) > voters().spare();
}

node_set round::deniers() const noexcept
{
    node_set result;
    for (std::size_t node = 0; node < voters().size(); ++node)
        result.set(node, counted_[node].vote == vote::denied);
    return result;
}

node_set round::touched() const noexcept
{
    node_set result = sent();
    // A node that said no has written nothing, and a release would only raise its fence. Redlock as
    // published releases everywhere, and so does plain mode.
    for (std::size_t node = 0; node < voters().size() && guarded(); ++node)
    {
        if (counted_[node].vote && wrote_nothing(*counted_[node].vote, counted_[node].why))
            result.reset(node);
    }
    return result;
}

error_code round::outcome(core::verdict how) const noexcept
{
    if (how == core::verdict::granted)
        return {};
    // A node that denies an extension may never have granted. Someone else can hold the resource
    // only if a majority denies.
    if (what() == verb::extend && tally_.denied_by_majority())
        return error::lease_lost;
    // Refusals may have decided before the last full node answered.
    if (what() != verb::acquire && was_too_much())
        return error::overloaded;
    switch (how)
    {
    case core::verdict::contended: return why_denied();
    case core::verdict::rejected: return why_refused();
    case core::verdict::too_late: return error::validity_exhausted;
    case core::verdict::undecided:
    case core::verdict::unreachable:
    case core::verdict::granted: break;
    }
    return was_too_much() ? error::overloaded : error::quorum_unreachable;
}

error_code round::why_denied() const noexcept
{
    if (what() == verb::revoke)  // Nodes that deny have a hold without a token.
        return error::node_rejected;
    if (what() != verb::extend)
        return error::contended;
    return tally_.unknown() > 0 ? outcome(core::verdict::unreachable) : why_refused();
}

error_code round::why_refused() const noexcept
{
    const std::size_t waiting = count_of(reason::quarantined);
    const std::size_t others = tally_.refused() - waiting + tally_.unknown() + tally_.denied();
    // Without the quarantines a quorum would have been possible.
    if (waiting > 0 && others <= voters().spare())
        return error::quarantined;
    return count_of(reason::config_mismatch) > 0 ? error::config_mismatch : error::node_rejected;
}

void release_round::on_reply(std::size_t node, const reply& answer) noexcept
{
    const bool late = ends_by_ && core::reached(ends_by_->now(), end_);
    if (late && answer.vote == vote::granted)
        round::on_reply(node, {vote::unknown, reason::timeout});
    else
        round::on_reply(node, answer);
}

void release_round::on_complete() noexcept
{
    // A destroyed list has unlinked this.
    if (release_hook::is_linked())
        open_in_->remove(*this);
}

void open_releases::add(release_round& asked)
{
    rounds_.push_back(asked);
    asked.stay_in(*this);
}

void open_releases::remove(release_round& answered)
{
    static_cast<release_hook&>(answered).unlink();
    if (!rounds_.empty())
        return;
    for (suspension& each : waiting)
        each.wake({});
}

}  // namespace redlock::detail
