#ifndef REDLOCK_SRC_CLIENT_ROUND_HPP
#define REDLOCK_SRC_CLIENT_ROUND_HPP

#include <redlock/diagnostics.hpp>

#include "client/window.hpp"
#include "core/instant.hpp"
#include "core/limits.hpp"
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

namespace redlock::detail {

/// What a round that asks for `what` needs from the nodes.
[[nodiscard]] core::aim aim_of(verb what) noexcept;

/** Asking every node once.

    Keeps the answer of each node it was put to, and wakes what waits for it as soon as the tally is
    decided. Votes that come after that are still counted, for what the round leaves behind. At the
    deadline the nodes that didn't answer count as unknown, whatever they say later.

    Used on the strand only. Kept alive by its coroutine and by the nodes that owe an answer.
*/
class round : public question, public suspension
{
public:
    /// What every round is about.
    struct subject
    {
        wording says;
        core::electorate voters;
        core::instant started;
    };

    round(subject of, turn& end_of_turn);
    virtual ~round() = default;

    /// Makes the round read the clock at each answer.
    void time_answers(const clock& by) noexcept { clock_ = &by; }

    // question
    void on_reply(std::size_t node, const reply& answer) noexcept override;
    bool wanted() const noexcept override { return !abandoned_; }

    /// Leaves out a node: it doesn't hold our key, because it was never asked to.
    void skip(std::size_t node) noexcept;

    /// Takes room over. Leaves when a quorum has really answered, or when the round is
    /// given up and no node owes an answer.
    void occupy(room taken) noexcept { admitted_by_ = taken.release(); }

    /** Lets the round continue beyond its deadline, to `until`, as long as a quorum may still grant
        it. Not with a grant and a denial: then it may keep another client from winning.

        A new question would queue behind the unanswered one and be answered even later. So giving
        up and asking again gains nothing, unless another client is about to win.
    */
    void be_patient(deadlines& timer, time_point until) noexcept;

    /// The round is over for its owner. What wasn't written yet won't be written.
    void abandon() noexcept;

    [[nodiscard]] core::instant started() const noexcept { return started_; }
    [[nodiscard]] const core::electorate& voters() const noexcept { return tally_.voters(); }
    [[nodiscard]] const core::tally& tally() const noexcept { return tally_; }

    /// Whether enough answers are in.
    [[nodiscard]] bool decided() const noexcept { return tally_.decided(); }

    /// Whether it got what it was for.
    [[nodiscard]] bool succeeded() const noexcept { return tally_.succeeded(); }

    /// What the caller of an acquisition, extension or revocation gets from a round that ended this
    /// way, as far as votes tell. Empty: it succeeded. One that is undecided, as when the nodes
    /// that were away are just back, counts as unreachable.
    [[nodiscard]] error_code outcome(core::verdict how) const noexcept;
    [[nodiscard]] error_code outcome() const noexcept { return outcome(tally_.by_votes()); }

    /// Whether it failed because too much was under way at the nodes.
    [[nodiscard]] bool was_too_much() const noexcept;

    /// The answer of a node. Empty: none yet.
    [[nodiscard]] std::optional<reply> answer_of(std::size_t node) const;

    /// Passes each answer so far to `use`, in the order of the nodes.
    template <class Use>
    void for_each_answer(Use use) const
    {
        for (std::size_t node = 0; node < voters().size(); ++node)
        {
            if (const auto answer = answer_of(node))
                use(*answer);
        }
    }

    /// How many answers have this reason.
    [[nodiscard]] std::size_t count_of(redlock::reason why) const noexcept;

    /// The nodes that denied.
    [[nodiscard]] node_set deniers() const noexcept;

    /// The nodes that granted. Any thread.
    [[nodiscard]] node_set granters() const noexcept
    {
        return granters_.load(std::memory_order_relaxed);
    }

    /// The nodes on which the attempt may have left something, now or later.
    [[nodiscard]] node_set touched() const noexcept;

private:
    /// The part of an answer that counts. The rest is kept only if there is any, because a hold
    /// keeps its round.
    struct counted_answer
    {
        std::optional<redlock::vote> vote;
        redlock::reason why = redlock::reason::none;
    };

    /// Ends the round, unless it's patient.
    void on_deadline() final;
    [[nodiscard]] bool awaits_input() const noexcept final { return true; }

    void take(std::size_t node, const reply& answer) noexcept;
    void keep(std::size_t node, const reply& answer);
    void count(std::size_t node, vote value) noexcept;

    /// Counts the nodes that didn't answer as unknown.
    void give_up_silent() noexcept;
    void leave_window() noexcept;
    [[nodiscard]] bool may_be_granted() const noexcept;
    [[nodiscard]] error_code why_denied() const noexcept;
    [[nodiscard]] error_code why_refused() const noexcept;

    /// The last node has answered.
    virtual void on_complete() noexcept {}

    core::instant started_;
    core::tally tally_;
    std::array<counted_answer, core::max_nodes> counted_;
    std::unique_ptr<std::array<reply, core::max_nodes>> answers_;  ///< If one says more.
    const clock* clock_ = nullptr;
    window* admitted_by_ = nullptr;
    deadlines* patience_by_ = nullptr;  ///< Null: the deadline is the end.
    time_point patience_end_{};
    std::atomic<std::uint16_t> granters_{0};  ///< Written on the strand only.
    bool patient_ = false;                    ///< The deadline has passed.
    bool abandoned_ = false;
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

/// A release, which the end of the client waits for. One that keeps the resource counts only what
/// was kept before the deadline of the hold: after that, another hold may have ended between.
class release_round final : public round, public release_hook
{
public:
    using round::round;

    /// What is granted after `end` doesn't count.
    void count_until(core::instant end, const clock& by) noexcept
    {
        end_ = end;
        ends_by_ = &by;
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override;

    /// Leaves `open` with the last answer. `open` must live until then.
    void stay_in(open_releases& open) noexcept { open_in_ = &open; }

private:
    void on_complete() noexcept override;

    core::instant end_{};
    const clock* ends_by_ = nullptr;  ///< Null: there is no end.
    open_releases* open_in_ = nullptr;
};

// They keep a round. Used on the strand only.
using round_ptr = boost::intrusive_ptr<round>;
using release_round_ptr = boost::intrusive_ptr<release_round>;

}  // namespace redlock::detail

#endif
