#ifndef REDLOCK_SRC_CORE_ELECTORATE_HPP
#define REDLOCK_SRC_CORE_ELECTORATE_HPP

#include <cstddef>

namespace redlock::core {

/// The nodes whose votes count together. Any two of their quorums share at least one node.
class electorate
{
public:
    constexpr explicit electorate(std::size_t nodes) noexcept : size_(nodes) {}

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

    /// Number of nodes in a majority. 1 for 1, 2 for 2 and 3, 3 for 4 and 5.
    [[nodiscard]] constexpr std::size_t quorum() const noexcept { return size_ / 2 + 1; }

    /// Number of nodes that may withhold their grant before a quorum is impossible.
    [[nodiscard]] constexpr std::size_t spare() const noexcept { return size_ - quorum(); }

private:
    std::size_t size_;
};

}  // namespace redlock::core

#endif
