#ifndef REDLOCK_SRC_CORE_TOKEN_CLOCK_HPP
#define REDLOCK_SRC_CORE_TOKEN_CLOCK_HPP

#include <chrono>
#include <cstdint>
#include <vector>

namespace redlock::core {

using std::chrono::microseconds;

/// The numbers of a double end here, and with them those of a script; in the year 2255.
inline constexpr std::uint64_t token_end = std::uint64_t{1} << 53U;

/** Where the tokens of one client come from: microseconds since the epoch by the nodes' clocks.

    Nobody's clock has to be right for tokens to increase, because a node refuses one that is not
    higher than the last. Clocks that agree make the first guess good enough, which saves a round.

    So a client whose clock is off keeps the difference to the median of the nodes, and pays for it
    once.
*/
class token_clock
{
public:
    /// A token for a new attempt: greater than the last one and than `above`.
    [[nodiscard]] std::uint64_t next(microseconds wall, std::uint64_t above) noexcept;

    /// The time, for an extension to show that it is not an old one.
    [[nodiscard]] std::uint64_t stamp(microseconds wall) const noexcept;

    /** Learns the time of the nodes.

        @param node_times What the nodes' clocks showed, one for each; not empty.
        @param wall Our clock at the same moment, as far as known.
    */
    void learn(std::vector<microseconds> node_times, microseconds wall) noexcept;

private:
    microseconds offset_{0};  ///< Of the nodes to us.
    std::uint64_t last_ = 0;
};

}  // namespace redlock::core

#endif
