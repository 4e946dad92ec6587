#ifndef REDLOCK_SRC_CORE_LATER_VOTES_HPP
#define REDLOCK_SRC_CORE_LATER_VOTES_HPP

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace redlock::core {

/// What nodes have said of a hold since it was granted. Written by one thread, read by any.
class later_votes
{
public:
    using node_set = std::bitset<16>;

    /// A node has answered an extension.
    void on_vote(std::size_t node, bool granted) noexcept
    {
        const node_set one = node_set().set(node);
        forget(one);
        known now = known_.load(std::memory_order_relaxed);
        if (granted)
            now.granted = static_cast<std::uint16_t>(now.granted | one.to_ulong());
        known_.store(now, std::memory_order_relaxed);
    }

    /// These nodes were away, and may have forgotten it.
    void forget(const node_set& nodes) noexcept
    {
        known now = known_.load(std::memory_order_relaxed);
        now.voted = static_cast<std::uint16_t>(now.voted | nodes.to_ulong());
        now.granted = static_cast<std::uint16_t>(now.granted & ~nodes.to_ulong());
        known_.store(now, std::memory_order_relaxed);
    }

    /// The nodes that have it, as far as their last answers say.
    /// @param granters Those that granted it at first.
    [[nodiscard]] node_set standing(const node_set& granters) const noexcept
    {
        const known now = known_.load(std::memory_order_relaxed);
        return (granters & ~node_set(now.voted)) | node_set(now.granted);
    }

private:
    struct known
    {
        std::uint16_t voted = 0;  ///< More is known than their answer to the acquisition.
        std::uint16_t granted = 0;
    };

    std::atomic<known> known_{known()};
};

}  // namespace redlock::core

#endif
