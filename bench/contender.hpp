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

/// What a process contends for, and with what.
struct contending
{
    std::span<const std::uint16_t> ports;
    redlock::mode mode;
    std::string resource;
    std::chrono::seconds wait{contender_wait};
    std::size_t clients{1};  ///< The tasks are spread over them.
};

/** Contends for a resource with the tasks of one process, until the end that the scoreboard names.

    @param process Number of this process, for the scoreboard.
*/
void contend(scoreboard& board, std::size_t process, const contending& how);

}  // namespace bench

#endif
