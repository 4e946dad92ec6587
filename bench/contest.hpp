#ifndef REDLOCK_BENCH_CONTEST_HPP
#define REDLOCK_BENCH_CONTEST_HPP

#include "child.hpp"
#include "contention.hpp"
#include "scoreboard.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// What a process does: contends on a resource with its number on the scoreboard.
using contest =
    std::function<void(scoreboard& board, std::size_t process, const std::string& resource)>;

/// Processes that contend, in the order of their numbers. Some end before the others.
struct contest_processes
{
    std::string resource;
    std::vector<child> all;
    std::vector<bool> struck;
};

/// Forks the processes, and returns when all are ready.
[[nodiscard]] contest_processes start_processes(
    scoreboard& board,
    const contest& run,
    const std::string& resource
);

/// Sets the times of the scoreboard: contention for `duration` from soon on, then for a second the
/// check whether two hold at once, then some time in which one holds and the others wait.
void set_times(scoreboard& board, scoreboard::clock::duration duration);

/// Waits until the end, and returns how many commands a node gets in a second from those who wait.
[[nodiscard]] double count_while_waiting(
    const scoreboard& board,
    std::span<const std::uint16_t> ports,
    redlock::mode mode
);

/// Waits until those have ended that were not struck.
/// @throws std::runtime_error If one of them has failed.
void end_processes(contest_processes& processes);

/// Returns the CPU time of all of them so far. @pre None has ended.
[[nodiscard]] double cpu_seconds(const contest_processes& processes);

/// Fills in what the scoreboard knows. Shares are those of parties that were not struck.
/// @pre `row.seconds` is set.
void sum_up(contention_row& row, const scoreboard& board, const contest_processes& processes);

/// Returns their quotient, zero if `whole` is.
[[nodiscard]] double ratio(double part, double whole);

}  // namespace bench

#endif
