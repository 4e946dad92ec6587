#ifndef REDLOCK_BENCH_NODE_COMMANDS_HPP
#define REDLOCK_BENCH_NODE_COMMANDS_HPP

#include <redlock/config.hpp>

#include <cstdint>
#include <span>

namespace bench {

/** Counts the commands that these servers have got since they started, from clients that acquire,
    wait and release.

    A `PTTL` that goes with a `CLIENT CACHING` counts as one with it.

    @param mode Of the clients. Those without a library put scripts, as in guarded mode.
*/
[[nodiscard]] std::uint64_t count_commands(
    std::span<const std::uint16_t> ports,
    redlock::mode mode
);

}  // namespace bench

#endif
