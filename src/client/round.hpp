#ifndef REDLOCK_SRC_CLIENT_ROUND_HPP
#define REDLOCK_SRC_CLIENT_ROUND_HPP

#include <redlock/diagnostics.hpp>

#include "client/window.hpp"
#include "core/instant.hpp"
#include "core/limits.hpp"
#include "core/release_count.hpp"
#include "core/tally.hpp"
#include "loop/clock.hpp"
#include "loop/deadlines.hpp"
#include "loop/suspension.hpp"
#include "node/node.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

class client_impl;

/** Asking every node once.

    Keeps the answer of each node it was put to, and wakes what waits for it as soon as there are
    enough. Each kind of round decides what is enough. At the deadline the nodes that didn't answer
    count as unknown; their late answers are only noted.

    Used on the strand only. Kept alive by its coroutine and by the nodes that owe an answer.
*/
class round : public question, public suspension
{
public:
    /// What every round is about.
    struct subject
    {
        wording says;
        std::size_t node_count;
        core::instant started;
    };

    round(subject of, turn& end_of_turn);

    /// Makes the round read the clock at each answer.
    void time_answers(const clock& by) noexcept { clock_ = &by; }

    // question
    void on_reply(std::size_t node, const reply& answer) noexcept override;
    bool wanted() const noexcept override { return !abandoned_; }

    /// Leaves out a node: it doesn't hold our key, because it was never asked to.
    void skip(std::size_t node) noexcept;

    /// Takes over a place. Leaves it when a quorum has really answered, or when the round is given
    /// up and no node owes an answer.
    void occupy(place taken) noexcept { place_in_ = taken.release(); }

    /// The round is over for its owner. What wasn't written yet won't be written.
    void abandon() noexcept;

    /// Whether enough answers are in.
    [[nodiscard]] virtual bool decided() const noexcept = 0;

    [[nodiscard]] core::instant started() const noexcept { return started_; }
    [[nodiscard]] std::size_t node_count() const noexcept { return node_count_; }

    /// The answer of a node. Empty: none yet.
    [[nodiscard]] std::optional<reply> answer_of(std::size_t node) const;

    /// How many answers have this reason.
    [[nodiscard]] std::size_t count_of(redlock::reason why) const noexcept;

    /// Whether it failed because too much was under way at the nodes.
    [[nodiscard]] bool was_too_much() const noexcept;

    /// How many nodes haven't answered yet.
    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }

protected:
    /// The part of an answer that counts. The rest is kept only if there is any, because a hold
    /// keeps its round.
    struct counted_answer
    {
        std::optional<redlock::vote> vote;
        redlock::reason why = redlock::reason::none;
    };

    ~round() = default;

    /// Counts the nodes that didn't answer as unknown.
    void on_deadline() override;
    [[nodiscard]] bool awaits_input() const noexcept final { return true; }

    [[nodiscard]] const counted_answer& counted(std::size_t node) const noexcept
    {
        return counted_[node];
    }

private:
    void take(std::size_t node, const reply& answer) noexcept;
    void keep(std::size_t node, const reply& answer);
    void leave_place() noexcept;

    /// Another node has answered.
    virtual void count(std::size_t, vote) noexcept {}

    /// The last node has answered.
    virtual void on_complete() noexcept {}

    /// A node has really answered, whether in time or late.
    virtual void on_answered() noexcept {}

    core::instant started_;
    std::size_t node_count_;
    std::size_t unanswered_;
    std::array<counted_answer, core::max_nodes> counted_;
    std::unique_ptr<std::array<reply, core::max_nodes>> answers_;  ///< If one says more.
    const clock* clock_ = nullptr;
    window* place_in_ = nullptr;
    bool abandoned_ = false;
    bool told_ = false;  ///< That it is decided.
};

/// An acquisition, extension or revocation: over with the verdict of its tally.
class vote_round : public round
{
public:
    vote_round(subject of, turn& end_of_turn);

    [[nodiscard]] bool decided() const noexcept final
    {
        return tally_.by_votes() != core::verdict::undecided;
    }

    [[nodiscard]] const core::tally& tally() const noexcept { return tally_; }

    /** Lets the round continue beyond its deadline, to `until`, as long as a quorum may still grant
        it. Not with a grant and a denial: then it may keep another client from winning.

        A new question would queue behind the unanswered one and be answered even later. So giving
        up and asking again gains nothing, unless another client is about to win.
    */
    void be_patient(deadlines& timer, time_point until) noexcept;

    /// The nodes that denied.
    [[nodiscard]] node_set deniers() const noexcept;

    /// The nodes that granted. Any thread.
    [[nodiscard]] node_set granters() const noexcept
    {
        return granters_.load(std::memory_order_relaxed);
    }

    /// The error for a round that refusals have decided.
    [[nodiscard]] error_code why_refused() const noexcept;

    /// What the caller gets from a round to acquire that ended this way. Empty: it granted, or is
    /// undecided.
    [[nodiscard]] error_code error_for(core::verdict verdict) const noexcept;

    /// The nodes on which the attempt may have left something, now or later.
    [[nodiscard]] node_set touched() const noexcept;

private:
    void count(std::size_t node, vote value) noexcept final;
    void on_answered() noexcept final;
    void on_deadline() final;
    [[nodiscard]] bool may_be_granted() const noexcept;

    core::tally tally_;
    std::atomic<std::uint16_t> granters_{0};  ///< Written on the strand only.
    deadlines* patience_by_ = nullptr;        ///< Null: the deadline is the end.
    time_point patience_end_{};
    bool patient_ = false;  ///< The deadline has passed.
};

/// A question whose answers aren't votes: over with the last answer.
class whole_round final : public round
{
public:
    using round::round;

    [[nodiscard]] bool decided() const noexcept override { return unanswered() == 0; }
};

/// Asks how long a key has left, so that its change wakes the waiting acquisition. Tells the client
/// about nodes on which the key is already gone.
class track_round final : public round
{
public:
    track_round(subject of, turn& end_of_turn, std::weak_ptr<client_impl> client)
        : round(std::move(of), end_of_turn), client_(std::move(client))
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override;
    [[nodiscard]] bool decided() const noexcept override { return unanswered() == 0; }

private:
    std::weak_ptr<client_impl> client_;
};

class release_round;

using release_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<release_round>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Releases that still lack an answer, and what waits for the last one.
class open_releases
{
public:
    void add(release_round& asked);
    void remove(release_round& answered);

    [[nodiscard]] bool empty() const noexcept { return rounds_.empty(); }

    /// Destroys what waits. For the end of the execution context.
    void shut_down() noexcept
    {
        while (!waiting.empty())
            waiting.front().drop();
    }

    /// Woken when none is left.
    suspension::list waiting;

private:
    boost::intrusive::list<
        release_hook,
        boost::intrusive::base_hook<release_hook>,
        boost::intrusive::constant_time_size<false>>
        rounds_;
};

/// A release: over when a quorum has confirmed it or no longer can. One that keeps the resource
/// counts only what was kept before the deadline of the hold: after that, another hold may have
/// ended between.
class release_round final : public round, public release_hook
{
public:
    release_round(subject of, turn& end_of_turn);

    [[nodiscard]] bool decided() const noexcept override { return confirmations_.decided(); }

    /// What is granted after `end` doesn't count.
    void count_until(core::instant end, const clock& by) noexcept
    {
        end_ = end;
        clock_ = &by;
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override;

    [[nodiscard]] const core::release_count& confirmations() const noexcept
    {
        return confirmations_;
    }

    /// Leaves `open` with the last answer. `open` must live until then.
    void stay_in(open_releases& open) noexcept { open_in_ = &open; }

private:
    void count(std::size_t, vote value) noexcept override { confirmations_.on_vote(value); }
    void on_complete() noexcept override;

    core::release_count confirmations_;
    core::instant end_{};
    const clock* clock_ = nullptr;  ///< Null: there is no end.
    open_releases* open_in_ = nullptr;
};

// They keep a round. Used on the strand only.
using release_round_ptr = boost::intrusive_ptr<release_round>;
using vote_round_ptr = boost::intrusive_ptr<vote_round>;
using whole_round_ptr = boost::intrusive_ptr<whole_round>;

/** Gives back in place of a release, on nodes that owe an answer to what it releases.

    It comes behind that on the same connection, so it needs no tombstone, which would refuse
    acquisitions of others that are under way. A node whose connection is lost first, or that
    refuses it, gets the release.
*/
class undo_question final : public question
{
public:
    undo_question(
        round::subject of,
        turn&,
        release_round_ptr release,
        std::weak_ptr<client_impl> client
    )
        : question(std::move(of.says)), release_(std::move(release)), client_(std::move(client))
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override;
    [[nodiscard]] bool wanted() const noexcept override { return true; }

private:
    release_round_ptr release_;
    std::weak_ptr<client_impl> client_;
};

}  // namespace redlock::detail

#endif
