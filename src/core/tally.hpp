#ifndef REDLOCK_SRC_CORE_TALLY_HPP
#define REDLOCK_SRC_CORE_TALLY_HPP

#include <redlock/vote.hpp>

#include "core/instant.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::core {

/// What a round has decided.
enum class verdict : std::uint8_t
{
    undecided,    ///< A quorum is still possible, keep listening.
    granted,      ///< A quorum granted.
    contended,    ///< No quorum, and at least one node denied: waiting may help.
    rejected,     ///< No quorum and no denials: refusals were needed to rule it out.
    unreachable,  ///< Failures alone rule out a quorum.
    too_late,     ///< The deadline has passed: whatever was granted may have expired already.
};

/** Counts the votes of one round and decides it.

    A tally reads no clock and performs no I/O. Votes are counted as they come; whether a quorum
    came in time is asked afterwards, with the time at which the answer is used. So a test can
    replay any order and any delay.

    The first verdict other than `undecided` is final. Later votes are still counted, because their
    grants are a margin worth knowing, but they can't revive a lost round or change its cause.
*/
class tally
{
public:
    /// @param node_count Nodes asked, 1 to 255.
    explicit tally(std::size_t node_count) noexcept;

    /// Counts one node's vote. Call it at most once for each node.
    void on_vote(vote value) noexcept;

    /// What the votes alone say, whatever the time.
    [[nodiscard]] verdict by_votes() const noexcept { return verdict_; }

    /// What the round is worth at `now`, for a lease that would be valid until `deadline`.
    [[nodiscard]] verdict at(instant now, instant deadline) const noexcept;

    /// Whether denials alone rule out a quorum. With an even number of nodes, half of them suffice.
    [[nodiscard]] bool denied_by_majority() const noexcept;

    [[nodiscard]] std::size_t granted() const noexcept { return granted_; }
    [[nodiscard]] std::size_t denied() const noexcept { return denied_; }
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::size_t unknown() const noexcept { return unknown_; }

    /// Whether every node has voted.
    [[nodiscard]] bool complete() const noexcept;

private:
    [[nodiscard]] verdict decide() const noexcept;

    std::size_t node_count_;
    std::size_t granted_ = 0;
    std::size_t denied_ = 0;
    std::size_t refused_ = 0;
    std::size_t unknown_ = 0;
    verdict verdict_ = verdict::undecided;
};

}  // namespace redlock::core

#endif
