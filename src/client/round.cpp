#include "client/round.hpp"

#include "client/client_impl.hpp"
#include "client/window.hpp"
#include "core/quorum.hpp"
#include "core/silence.hpp"

#include <algorithm>
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

round::round(subject of, turn& end_of_turn)
    : question(std::move(of.says)),
      suspension(end_of_turn),
      started_(of.started),
      node_count_(of.node_count),
      unanswered_(of.node_count)
{
}

void round::on_reply(std::size_t node, const reply& answer) noexcept
{
    mark_answered(node);
    take(node, answer);
    const bool enough =
        place_in_ && (heard() >= core::quorum_size(node_count_) || (!wanted() && owing().none()));
    if (enough)
        leave_place();
    on_answered();
}

void round::abandon() noexcept
{
    abandoned_ = true;
    if (owing().none())
        leave_place();
}

void round::leave_place() noexcept
{
    if (window* const from = std::exchange(place_in_, nullptr))
        from->leave();
}

void round::take(std::size_t node, const reply& answer) noexcept
{
    // Votes are counted by node: anything a node says after its first answer doesn't count.
    if (counted_[node].vote)
        return;

    counted_[node] = {answer.vote, answer.why};
    keep(node, answer);
    count(node, answer.vote);
    if (--unanswered_ == 0)
        on_complete();
    if (!told_ && decided())
    {
        told_ = true;
        deadline::forget();
        wake({});
    }
}

void round::skip(std::size_t node) noexcept
{
    on_reply(node, {vote::denied, reason::gone});
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
    std::size_t count = 0;
    for (std::size_t node = 0; node < node_count_; ++node)
        count += counted_[node].vote && counted_[node].why == why;
    return count;
}

bool round::was_too_much() const noexcept
{
    return count_of(reason::overloaded) > core::spare_nodes(node_count_);
}

void round::on_deadline()
{
    for (std::size_t node = 0; node < node_count(); ++node)
    {
        const reason late = sent().test(node) ? reason::timeout : reason::connecting;
        take(node, {vote::unknown, late});
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

vote_round::vote_round(subject of, turn& end_of_turn)
    : round(std::move(of), end_of_turn), tally_(node_count())
{
}

void vote_round::be_patient(deadlines& timer, time_point until) noexcept
{
    patience_by_ = &timer;
    // A connection that is silent for longer is lost and then owes no answer.
    patience_end_ = std::min(until, core::shifted(started(), core::longest_silence).steady);
}

void vote_round::on_answered() noexcept
{
    if (patient_ && !decided() && !may_be_granted())
    {
        deadline::forget();
        round::on_deadline();
    }
}

void vote_round::on_deadline()
{
    if (patience_by_ && !patient_ && may_be_granted() && due() < patience_end_)
    {
        patient_ = true;
        return patience_by_->add(*this, patience_end_);
    }
    round::on_deadline();
}

/// Whether the nodes that owe an answer can still make a quorum. A round with both a grant and a
/// denial may keep another client from winning.
bool vote_round::may_be_granted() const noexcept
{
    const std::size_t possible = tally_.granted() + owing().count();
    const bool harmless = tally_.denied() == 0 || tally_.granted() == 0;
    return harmless && possible >= core::quorum_size(node_count());
}

void vote_round::count(std::size_t node, vote value) noexcept
{
    tally_.on_vote(value);
    if (value == vote::granted)
    {
        const auto others = granters_.load(std::memory_order_relaxed);
        granters_.store(static_cast<std::uint16_t>(others | 1U << node), std::memory_order_relaxed);
    }
}

node_set vote_round::deniers() const noexcept
{
    node_set result;
    for (std::size_t node = 0; node < node_count(); ++node)
        result.set(node, counted(node).vote == vote::denied);
    return result;
}

error_code vote_round::why_refused() const noexcept
{
    const std::size_t waiting = count_of(reason::quarantined);
    const std::size_t others = tally_.refused() - waiting + tally_.unknown() + tally_.denied();
    // Without the quarantines a quorum would have been possible.
    if (waiting > 0 && others <= core::spare_nodes(node_count()))
        return error::quarantined;
    return count_of(reason::config_mismatch) > 0 ? error::config_mismatch : error::node_rejected;
}

error_code vote_round::error_for(core::verdict verdict) const noexcept
{
    switch (verdict)
    {
    case core::verdict::contended: return error::contended;
    case core::verdict::rejected: return why_refused();
    case core::verdict::unreachable:
        return was_too_much() ? error::overloaded : error::quorum_unreachable;
    case core::verdict::too_late: return error::validity_exhausted;
    case core::verdict::undecided:
    case core::verdict::granted: break;
    }
    return {};
}

node_set vote_round::touched() const noexcept
{
    node_set result = sent();
    // A node that said no has written nothing, and a release would only raise its fence. Redlock as
    // published releases everywhere, and so does plain mode.
    for (std::size_t node = 0; node < node_count() && guarded(); ++node)
    {
        if (counted(node).vote && wrote_nothing(*counted(node).vote, counted(node).why))
            result.reset(node);
    }
    return result;
}

void track_round::on_reply(std::size_t node, const reply& answer) noexcept
{
    if (answer.held_for == milliseconds(0))
    {
        if (const auto client = client_.lock())
            client->on_news(node, {news::kind::free, key()});
    }
    round::on_reply(node, answer);
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

release_round::release_round(subject of, turn& end_of_turn)
    : round(std::move(of), end_of_turn), confirmations_(node_count(), what() == verb::keep)
{
}

void release_round::on_reply(std::size_t node, const reply& answer) noexcept
{
    const bool late = clock_ && core::reached(clock_->now(), end_);
    if (late && answer.vote == vote::granted)
        round::on_reply(node, {vote::unknown, reason::timeout});
    else
        round::on_reply(node, answer);
}

void undo_question::on_reply(std::size_t node, const reply& answer) noexcept
{
    mark_answered(node);
    if (answer.vote == vote::granted || answer.vote == vote::denied)
        return release_->on_reply(node, answer);
    if (const auto client = client_.lock())
        client->rounds.put(node, release_);
}

void release_round::on_complete() noexcept
{
    // A destroyed list has unlinked this.
    if (release_hook::is_linked())
        open_in_->remove(*this);
}

}  // namespace redlock::detail
