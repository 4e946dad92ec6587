#ifndef REDLOCK_BENCH_BARE_CONTENDER_HPP
#define REDLOCK_BENCH_BARE_CONTENDER_HPP

#include "scoreboard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

/// How a contender learns that it may try again.
enum class waiting : std::uint8_t
{
    polling,   ///< It does not, and tries after 5 to 20 ms.
    tracking,  ///< The servers tell all that the key has changed.
    queue,     ///< A release wakes the head of a queue, and reserves the lock for it.
};

[[nodiscard]] const char* to_string(waiting value) noexcept;

/** Contends for a resource with one task and without a library, until the end that the scoreboard
    names: the yardstick for waiting, in plain mode.

    @param process Number of this process, for the scoreboard.
    @throws std::runtime_error If a server fails, misbehaves or stays silent.
*/
void contend_bare(
    scoreboard& board,
    std::size_t process,
    std::span<const std::uint16_t> ports,
    waiting how,
    const std::string& resource
);

}  // namespace bench

#endif
