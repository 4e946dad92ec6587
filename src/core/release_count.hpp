#ifndef REDLOCK_SRC_CORE_RELEASE_COUNT_HPP
#define REDLOCK_SRC_CORE_RELEASE_COUNT_HPP

#include <redlock/vote.hpp>

#include "core/quorum.hpp"

#include <cstddef>

namespace redlock::core {

/** Counts what the nodes answered to a release.

    Granted means that our key was deleted, denied that it wasn't there. Both confirm that the node
    no longer holds the resource for us. To a release that keeps the resource, granted means that
    they keep it.
*/
class release_count
{
public:
    explicit release_count(std::size_t node_count, bool keeps = false) noexcept
        : node_count_(node_count), keeps_(keeps)
    {
    }

    /// Counts one node's answer. Call it at most once for each node.
    void on_vote(vote value) noexcept
    {
        switch (value)
        {
        case vote::granted: ++deleted_; break;
        case vote::denied: ++absent_; break;
        case vote::refused:
        case vote::unknown: ++unknown_; break;
        }
    }

    /// Whether a quorum has answered, and so no longer holds the resource for us.
    [[nodiscard]] bool answered() const noexcept
    {
        return deleted_ + absent_ >= quorum_size(node_count_);
    }

    /// Whether a quorum has done what it was asked to do.
    [[nodiscard]] bool confirmed() const noexcept
    {
        return keeps_ ? deleted_ >= quorum_size(node_count_) : answered();
    }

    /// Whether waiting for more answers is pointless.
    [[nodiscard]] bool decided() const noexcept
    {
        const std::size_t failed = unknown_ + (keeps_ ? absent_ : 0);
        return confirmed() || failed > spare_nodes(node_count_);
    }

    /// Whether one node less would not have been enough.
    [[nodiscard]] bool barely_kept() const noexcept
    {
        return keeps_ && deleted_ == quorum_size(node_count_) && deleted_ < node_count_;
    }

    /// Whether our key was found anywhere.
    [[nodiscard]] bool any_deleted() const noexcept { return deleted_ > 0; }

private:
    std::size_t node_count_;
    bool keeps_;
    std::size_t deleted_ = 0;
    std::size_t absent_ = 0;
    std::size_t unknown_ = 0;
};

}  // namespace redlock::core

#endif
