#include "client/round.hpp"

#include "core/quorum.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace redlock::detail {

namespace {

/// Whether a guarded script answered, and without a grant.
bool wrote_nothing(const ballot& from) noexcept
{
    switch (from.why)
    {
    case reason::held:
    case reason::fence:
    case reason::clock:
    case reason::unmarked:
    case reason::quarantined: return from.vote != vote::granted;
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
    case reason::in_use: break;
    }
    return false;
}

}  // namespace

void open_rounds::add(round& asked)
{
    rounds_.push_back(asked);
    asked.stay_in(*this);
}

void open_rounds::remove(round& answered)
{
    static_cast<round_hook&>(answered).unlink();
    if (!rounds_.empty())
        return;
    for (suspension& each : waiting)
        each.wake({});
}

round::round(
    std::uint64_t serial,
    verb what,
    std::shared_ptr<const attempt> about,
    milliseconds ttl,
    std::uint64_t stamp,
    std::size_t node_count,
    core::instant started,
    turn& end_of_turn
)
    : question(serial, what, std::move(about), ttl, stamp),
      suspension(end_of_turn),
      started_(started),
      tally_(node_count),
      releases_(node_count),
      node_count_(node_count),
      unanswered_(node_count)
{
}

void round::on_reply(std::size_t node, const reply& answer) noexcept
{
    // Votes are counted by node: whatever a node says after its first ballot does not count.
    if (ballots_[node].vote)
        return;

    const bool was_decided = decided();
    count(node, answer);
    // A list that has gone has let this go.
    if (unanswered_ == 0 && round_hook::is_linked())
        open_in_->remove(*this);
    if (decided() && !was_decided)
    {
        deadline::forget();
        wake({});
    }
}

void round::skip(std::size_t node) noexcept
{
    reply nothing_there;
    nothing_there.vote = vote::denied;
    nothing_there.why = reason::gone;
    on_reply(node, nothing_there);
}

ballot_details round::details_of(std::size_t node) const
{
    return details_ ? (*details_)[node] : ballot_details();
}

bool round::decided() const noexcept
{
    switch (what())
    {
    case verb::acquire:
    case verb::extend: return tally_.by_votes() != core::verdict::undecided;
    case verb::release: return releases_.decided();
    case verb::holder: return unanswered_ == 0;
    }
    return true;
}

node_set round::deniers() const noexcept
{
    node_set result;
    for (std::size_t node = 0; node < node_count_; ++node)
        result.set(node, ballots_[node].vote == vote::denied);
    return result;
}

std::size_t round::count_of(redlock::reason why) const noexcept
{
    const auto end = ballots_.begin() + static_cast<std::ptrdiff_t>(node_count_);
    return static_cast<std::size_t>(
        std::count_if(ballots_.begin(), end, [why](const ballot& each) { return each.why == why; })
    );
}

error_code round::why_refused() const noexcept
{
    const std::size_t waiting = count_of(reason::quarantined);
    const std::size_t others = tally_.refused() - waiting + tally_.failed() + tally_.denied();
    // Without the quarantines a quorum would have been possible.
    if (waiting > 0 && others <= core::spare_nodes(node_count_))
        return error::quarantined;
    return count_of(reason::config_mismatch) > 0 ? error::config_mismatch : error::node_rejected;
}

node_set round::touched() const noexcept
{
    node_set result = sent();
    // A node that said no has written nothing, and a release would do nothing but raise its fence.
    // The text of Redlock releases everywhere: so does plain mode.
    for (std::size_t node = 0; node < node_count_ && guarded(); ++node)
    {
        if (wrote_nothing(ballots_[node]))
            result.reset(node);
    }
    return result;
}

void round::on_deadline()
{
    for (std::size_t node = 0; node < node_count_; ++node)
    {
        reply late;
        late.why = sent().test(node) ? reason::timeout : reason::connecting;
        on_reply(node, late);
    }
}

void round::count(std::size_t node, const reply& answer) noexcept
{
    ballot& kept = ballots_[node];
    kept.vote = answer.vote;
    kept.why = answer.why;
    try
    {
        keep_details(node, answer);
    }
    catch (const std::bad_alloc&)
    {
        // The vote counts all the same: details tell why, or when to ask again.
    }
    tally_.on_vote(answer.vote);
    releases_.on_vote(answer.vote);
    --unanswered_;
}

void round::keep_details(std::size_t node, const reply& answer)
{
    if (!clock_ && !answer.code && answer.text.empty() && !answer.held_for && !answer.ready_in &&
        !answer.node_time)
        return;
    if (!details_)
        details_ = std::make_unique<std::array<ballot_details, core::max_nodes>>();
    ballot_details& more = (*details_)[node];
    more.code = answer.code;
    more.held_for = answer.held_for;
    more.ready_in = answer.ready_in;
    more.fence = answer.fence;
    more.node_time = answer.node_time;
    if (clock_)
        more.round_trip = clock_->now().steady - started_.steady;
    more.text = answer.text;  // Last, for it may throw.
}

}  // namespace redlock::detail
