#ifndef REDLOCK_SRC_CORE_TALLY_HPP
#define REDLOCK_SRC_CORE_TALLY_HPP

#include <redlock/vote.hpp>

#include "core/electorate.hpp"
#include "core/instant.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace redlock::core {

/// What a round needs from the nodes.
enum class aim : std::uint8_t
{
    grants,   ///< A quorum grants.
    answers,  ///< A quorum grants or denies. After a release, it holds nothing for us any more.
    all,      ///< Every node says something.
};

/// What a round has decided.
enum class verdict : std::uint8_t
{
    undecided,    ///< The aim is still possible, keep listening.
    granted,      ///< The aim is reached.
    contended,    ///< The aim is out of reach, and a denial counts against it: waiting may help.
    rejected,     ///< The aim is out of reach, and refusals were needed to rule it out.
    unreachable,  ///< Failures alone rule the aim out.
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
    /// @param voters The nodes asked, 1 to 255.
    explicit tally(electorate voters, aim of = aim::grants) noexcept;

    /// Counts one node's vote. Call it at most once for each node.
    void on_vote(vote value) noexcept;

    /// What the votes alone say, whatever the time.
    [[nodiscard]] verdict by_votes() const noexcept { return verdict_; }
    [[nodiscard]] bool decided() const noexcept { return verdict_ != verdict::undecided; }
    [[nodiscard]] bool succeeded() const noexcept { return verdict_ == verdict::granted; }

    /// What the round is worth at `now`, for a lease that would be valid until `deadline`.
    [[nodiscard]] verdict at(instant now, instant deadline) const noexcept;

    /// Whether denials alone rule out a quorum. With an even number of nodes, half of them suffice.
    [[nodiscard]] bool denied_by_majority() const noexcept { return denied() > voters_.spare(); }

    /// Whether a quorum has granted or denied.
    [[nodiscard]] bool answered() const noexcept
    {
        return granted() + denied() >= voters_.quorum();
    }

    /// Whether one grant fewer would not have been enough, and not every node granted.
    [[nodiscard]] bool barely_granted() const noexcept
    {
        return granted() == voters_.quorum() && granted() < voters_.size();
    }

    [[nodiscard]] const electorate& voters() const noexcept { return voters_; }
    [[nodiscard]] std::size_t granted() const noexcept { return count(vote::granted); }
    [[nodiscard]] std::size_t denied() const noexcept { return count(vote::denied); }
    [[nodiscard]] std::size_t refused() const noexcept { return count(vote::refused); }
    [[nodiscard]] std::size_t unknown() const noexcept { return count(vote::unknown); }

    /// How many nodes haven't voted yet.
    [[nodiscard]] std::size_t missing() const noexcept { return missing_; }

private:
    [[nodiscard]] verdict decide() const noexcept;

    [[nodiscard]] std::size_t count(vote value) const noexcept
    {
        return counts_[static_cast<std::size_t>(value)];
    }

    electorate voters_;
    std::size_t missing_;
    std::array<std::uint8_t, 4> counts_{};
    aim aim_;
    verdict verdict_ = verdict::undecided;
};

}  // namespace redlock::core

#endif
