#ifndef REDLOCK_SRC_CLIENT_ROUND_HPP
#define REDLOCK_SRC_CLIENT_ROUND_HPP

#include <redlock/diagnostics.hpp>

#include "client/deadlines.hpp"
#include "client/suspension.hpp"
#include "core/instant.hpp"
#include "core/limits.hpp"
#include "core/release_count.hpp"
#include "core/tally.hpp"
#include "node/node.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace redlock::detail {

class round;

using round_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<round>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Rounds that still lack an answer, and who waits for the last one.
class open_rounds
{
public:
    void add(round& asked);
    void remove(round& answered);

    [[nodiscard]] bool empty() const noexcept { return rounds_.empty(); }

    /// Woken when there is none any more.
    suspension::list waiting;

private:
    boost::intrusive::list<
        round_hook,
        boost::intrusive::base_hook<round_hook>,
        boost::intrusive::constant_time_size<false>>
        rounds_;
};

/// What one node answered, as kept by a round.
struct ballot
{
    std::optional<redlock::vote> vote;
    redlock::reason why = redlock::reason::none;
};

/// What a ballot needs only when something is wrong, or somebody asked for a report.
struct ballot_details
{
    error_code code;
    std::string text;
    std::optional<milliseconds> held_for;
    std::optional<milliseconds> ready_in;
    fencing_token fence;
    std::optional<std::chrono::microseconds> node_time;
    std::optional<core::nanoseconds> round_trip;
};

/** Asking every node once.

    Collects one ballot from each node it was put to, and wakes whoever waits for it as soon as
    enough of them are in. What is enough depends on the verb: a verdict of the tally (acquire,
    extend), a quorum of confirmations (release), or every answer (holder). At the deadline the
    nodes that did not answer count as failed; their late answers are only noted.

    Used on the strand only. Kept alive by its coroutine and by the nodes that owe an answer.
*/
class round final : public question, public suspension, public deadline, public round_hook
{
public:
    round(
        std::uint64_t serial,
        verb what,
        std::shared_ptr<const attempt> about,
        milliseconds ttl,
        std::uint64_t stamp,
        std::size_t node_count,
        core::instant started,
        turn& end_of_turn
    );

    /// Makes the round read the clock at each answer.
    void time_answers(const time_source& clock) noexcept { clock_ = &clock; }

    // question
    void on_reply(std::size_t node, const reply& answer) noexcept override;
    bool wanted() const noexcept override { return !abandoned_; }

    /// Leaves out a node: it does not hold our key, for it was never asked to.
    void skip(std::size_t node) noexcept;

    /// The round is over for its owner. What was not written yet is not written any more.
    void abandon() noexcept { abandoned_ = true; }

    /// Leaves `open` with the last answer. `open` must live until then.
    void stay_in(open_rounds& open) noexcept { open_in_ = &open; }

    /// Whether enough ballots are in.
    [[nodiscard]] bool decided() const noexcept;

    [[nodiscard]] core::instant started() const noexcept { return started_; }
    [[nodiscard]] const core::tally& tally() const noexcept { return tally_; }
    [[nodiscard]] const core::release_count& releases() const noexcept { return releases_; }
    [[nodiscard]] const ballot& of(std::size_t node) const noexcept { return ballots_[node]; }
    [[nodiscard]] ballot_details details_of(std::size_t node) const;
    [[nodiscard]] std::size_t node_count() const noexcept { return node_count_; }

    /// The nodes that denied.
    [[nodiscard]] node_set deniers() const noexcept;

    /// How many ballots have this reason.
    [[nodiscard]] std::size_t count_of(redlock::reason why) const noexcept;

    /// The error for a round that refusals have decided.
    [[nodiscard]] error_code why_refused() const noexcept;

    /// How many nodes have not answered yet.
    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }

    /// The nodes on which the attempt may have left something, now or later.
    [[nodiscard]] node_set touched() const noexcept;

private:
    void on_deadline() override;
    void count(std::size_t node, const reply& answer) noexcept;
    void keep_details(std::size_t node, const reply& answer);

    core::instant started_;
    core::tally tally_;
    core::release_count releases_;
    std::array<ballot, core::max_nodes> ballots_;
    std::unique_ptr<std::array<ballot_details, core::max_nodes>> details_;
    std::size_t node_count_;
    std::size_t unanswered_;
    const time_source* clock_ = nullptr;
    open_rounds* open_in_ = nullptr;
    bool abandoned_ = false;
};

/// Keeps a round. Used on the strand only.
using round_ptr = boost::intrusive_ptr<round>;

}  // namespace redlock::detail

#endif
