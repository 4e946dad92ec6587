#ifndef REDLOCK_SRC_CORE_TOKEN_CLOCK_HPP
#define REDLOCK_SRC_CORE_TOKEN_CLOCK_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::core {

using std::chrono::microseconds;

/// Whole numbers in a double, and so in a script, are exact up to here: until the year 2255.
inline constexpr std::uint64_t token_end = std::uint64_t{1} << 53U;

/** Makes the tokens of one client: microseconds since the epoch by the nodes' clocks.

    Tokens increase even if every clock is wrong, because a node refuses one that isn't higher than
    the last. If clocks agree, the first guess is good enough, which saves a round.

    So a client whose clock is off remembers the difference to the median of the nodes, and pays for
    it once.
*/
class token_clock
{
public:
    /// A token for a new attempt: greater than the last one and than `above`.
    [[nodiscard]] std::uint64_t next(microseconds wall, std::uint64_t above) noexcept;

    /// The time, by which an extension shows that it isn't an old one.
    [[nodiscard]] std::uint64_t stamp(microseconds wall) const noexcept;

    /** Learns the time of the nodes, because too many of them refuse ours: the median of those that
        answered. Of two in the middle, the nearer one.

        @param node_times What the nodes' clocks showed, one per node; not empty.
        @param wall Our clock at the same moment, as far as known.
        @param slack How much earlier or later that may have been. Its time moves only as far as it
        must to be right: else one slow round could put it wrong.
        @return How far its time has moved.
    */
    microseconds learn(
        std::vector<microseconds> node_times,
        microseconds wall,
        microseconds slack
    ) noexcept;

    /** Moves its time only as far as it must to be one that may be the median of all nodes.

        @param missing How many nodes didn't answer: fewer than did. The others are as of `learn`.
    */
    microseconds approach(
        std::vector<microseconds> node_times,
        std::size_t missing,
        microseconds wall,
        microseconds slack
    ) noexcept;

private:
    microseconds move_to(microseconds offset, microseconds wall) noexcept;

    microseconds offset_{0};  ///< The nodes' time minus ours.
    std::uint64_t last_ = 0;
};

}  // namespace redlock::core

#endif
