#ifndef REDLOCK_BENCH_CONTENDER_HPP
#define REDLOCK_BENCH_CONTENDER_HPP

#include <redlock/config.hpp>

#include "scoreboard.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

/// How long contenders ask for the lock, and for how long they want it.
inline constexpr std::chrono::seconds contender_wait{5};
inline constexpr std::chrono::seconds contender_ttl{5};

/** Contends for a resource with one `redlock::client` and the tasks of one process, until the end
    that the scoreboard names.

    @param process Number of this process, for the scoreboard.
*/
void contend(
    scoreboard& board,
    std::size_t process,
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    const std::string& resource
);

}  // namespace bench

#endif
