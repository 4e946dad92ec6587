#ifndef REDLOCK_BENCH_CASUALTIES_HPP
#define REDLOCK_BENCH_CASUALTIES_HPP

#include "contention.hpp"
#include "contest.hpp"
#include "scoreboard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/** Lets some processes, chosen at random, meet their fate in the first three quarters of the time
    of contention, each at a random moment while it waits.

    @return How often that had to be put off, because keys did not change while a victim was frozen.
*/
[[nodiscard]] std::size_t strike_each(
    contest_processes& processes,
    std::size_t victims,
    fate of_victims,
    const scoreboard& board,
    std::span<const std::uint16_t> ports
);

/** Lets some processes, chosen at random, meet their fate at once, at a moment at which all of them
    wait.

    @return How often that had to be put off.
*/
[[nodiscard]] std::size_t strike_together(
    contest_processes& processes,
    std::size_t victims,
    fate of_victims,
    const scoreboard& board,
    std::span<const std::uint16_t> ports
);

}  // namespace bench

#endif
