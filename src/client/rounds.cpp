#include "client/rounds.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::detail {

namespace {

std::chrono::microseconds microseconds_of(std::uint64_t stamp) noexcept
{
    return std::chrono::microseconds(static_cast<std::chrono::microseconds::rep>(stamp));
}

/// @param stamp Of the question.
void write_vote(node_vote& to, const reply& from, std::uint64_t stamp)
{
    to.vote = from.vote;
    to.reason = from.why;
    to.code = from.code;
    to.text = from.text;
    to.held_for = from.held_for;
    if (from.position <= core::max_queue)
        to.position = from.position;
    to.ready_in = from.ready_in;
    if (from.why == reason::clock && from.node_time)
        to.clock_ahead = *from.node_time - microseconds_of(stamp);
    to.round_trip = from.round_trip;
}

/** Gives back in place of a release, on nodes that owe an answer to what it releases.

    It comes behind that on the same connection, so it needs no tombstone, which would refuse
    acquisitions of others that are under way. A node whose connection is lost first, or that
    refuses it, gets the release.

    With its last answer, all nodes have said what time it is. Those that decide a round may always
    be the same ones, behind the others or ahead, and a client that knows only their time would come
    before others in each turn, or after.
*/
class undo_question final : public question
{
public:
    undo_question(
        round::subject of,
        turn&,
        round_ptr lost,
        release_round_ptr release,
        std::weak_ptr<rounds> asks
    )
        : question(std::move(of.says)),
          lost_(std::move(lost)),
          release_(std::move(release)),
          asks_(std::move(asks))
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override
    {
        mark_answered(node);
        const auto asks = asks_.lock();
        if (answer.vote == vote::granted || answer.vote == vote::denied)
            release_->on_reply(node, answer);
        else if (asks)
            asks->put(node, release_);
        if (asks && owing().none())
            asks->times().learn_time(*lost_);
    }

    [[nodiscard]] bool wanted() const noexcept override { return true; }

private:
    round_ptr lost_;
    release_round_ptr release_;
    std::weak_ptr<rounds> asks_;
};

}  // namespace

std::shared_ptr<const attempt> rounds::new_attempt(
    std::shared_ptr<const demand> wanted,
    fencing_token above
)
{
    const fencing_token token = times_.next_token(above);
    return make_recycled<attempt>(attempt{std::move(wanted), ids_.next(), token});
}

std::shared_ptr<const attempt> rounds::attempt_of(
    std::shared_ptr<const demand> about,
    fencing_token token
)
{
    return make_recycled<attempt>(attempt{std::move(about), {}, token});
}

round::subject rounds::begin(wording says)
{
    const fencing_token token = says.attempt->token;
    says.serial = ++last_serial_;
    const bool is_timed =
        says.what == verb::extend || says.what == verb::revoke || says.what == verb::keep;
    says.stamp = token && is_timed ? times_.now() : token.value();
    // The time is taken before anything is sent, because validity counts from here.
    return {std::move(says), nodes_.voters(), loop_.now()};
}

void rounds::put(std::size_t node, const question_ptr& asked)
{
    if (const auto answer = nodes_[node].ask(asked))
        asked->on_reply(node, *answer);
}

void rounds::put_to_all(const boost::intrusive_ptr<round>& asked)
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        put(node, asked);
    set_deadline(*asked);
}

void rounds::put_to(const node_set& some, const boost::intrusive_ptr<round>& asked)
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        if (some.test(node))
            put(node, asked);
        else
            asked->skip(node);
    }
    set_deadline(*asked);
}

round_ptr rounds::ask_the_absent(std::shared_ptr<const attempt> tried)
{
    const auto asked = make<round>({.what = verb::acquire, .attempt = std::move(tried)});
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        const node_state now = nodes_[node].status().state;
        if (now == node_state::connecting)
            asked->on_reply(node, {vote::unknown, reason::connecting});
        else if (now != node_state::ready)
            put(node, asked);
    }
    return asked;
}

release_round_ptr rounds::make_release(round& left_behind, const ending& how)
{
    left_behind.abandon();
    queue_entry entry = left_behind.entry();
    entry.move = how.move;
    const auto asked = make<release_round>(
        {.what = how.what,
         .attempt = left_behind.attempt(),
         .ttl = std::max(how.ttl, how.at_least),
         .entry = entry,
         .at_least = how.at_least}
    );
    if (how.what == verb::keep)
        asked->count_until(how.end, *loop_.time);
    releases_.add(*asked);
    last_key_ends_ = std::max(last_key_ends_, core::shifted(asked->started(), how.ttl).steady);
    return asked;
}

release_round_ptr rounds::release(round& left_behind, const ending& how)
{
    const auto asked = make_release(left_behind, how);
    // Everywhere the attempt may have had an effect or may have one later, and nowhere else. A
    // client that leaves the queues also has a place where it was denied.
    const bool leaves = how.move == core::queue_move::leave;
    if (how.what != verb::release)
        put_to_all(asked);
    else
        put_to(leaves ? left_behind.sent() : left_behind.touched(), asked);
    return asked;
}

void rounds::undo(round& lost, core::queue_move move, std::weak_ptr<rounds> self)
{
    const auto release = make_release(lost, {.ttl = lost.ttl(), .move = move});
    const node_set touched = lost.touched();
    // Plain mode has no tombstones.
    const node_set owing = lost.guarded() ? lost.owing() : node_set();
    question_ptr undone;
    if (owing.any())
    {
        wording says = release->says();
        says.what = verb::undo;
        undone = make<undo_question>(std::move(says), round_ptr(&lost), release, std::move(self));
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        if (touched.test(node))
            put(node, owing.test(node) ? undone : release);
        else
            release->skip(node);
    }
    set_deadline(*release);
}

task<error_code> rounds::until_time_is_told(const round& lost, life& of)
{
    constexpr milliseconds between_looks{2};
    const time_point limit = core::shifted(lost.started(), config_.node_timeout).steady;
    while (times_.lacks_times(lost) && loop_.now().steady < limit)
    {
        pause later(*loop_.end_of_turn);
        const time_point at = core::shifted(loop_.now(), between_looks).steady;
        if (const error_code ec = co_await of.sleep_until(later, std::min(at, limit)))
            co_return ec;
    }
    co_return error_code();
}

void rounds::set_deadline(round& asked)
{
    set_deadline(asked, core::shifted(asked.started(), config_.node_timeout).steady);
}

void rounds::set_deadline(round& asked, time_point until)
{
    asked.forget();
    if (!asked.decided())
        loop_.timer->add(asked, until);
}

core::nanoseconds rounds::first_delay() const noexcept
{
    if (config_.retry.first_delay > milliseconds(0))
        return config_.retry.first_delay;
    // Several times longer than a round, so that a competitor can finish its own; and never zero.
    return std::max<core::nanoseconds>(4 * duration_.value(), milliseconds(1));
}

void rounds::write_report(
    diagnostics& report,
    std::size_t count,
    const round& asked,
    const round* holders
) const
{
    report.rounds = count;
    report.quorum = nodes_.voters().quorum();
    report.votes.clear();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        node_vote& to = report.votes.emplace_back();
        to.node = nodes_[node].status().node;
        if (const auto answer = asked.answer_of(node))
            write_vote(to, *answer, asked.stamp());
        if (const auto told = holders ? holders->answer_of(node) : std::nullopt)
            to.held_for = told->held_for;
    }
}

}  // namespace redlock::detail
