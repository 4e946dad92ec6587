#ifndef REDLOCK_BENCH_CONTENTION_HPP
#define REDLOCK_BENCH_CONTENTION_HPP

#include <redlock/config.hpp>

#include "scoreboard.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// What contenders for one resource found.
struct contention_row
{
    std::string name;  ///< Of the benchmark.
    std::string impl;  ///< "redlock" or "limit".
    std::string mode;
    std::string waiting;  ///< Of the limit.
    crowd contenders{};
    std::size_t victims{0};  ///< Processes that were killed or frozen.
    std::size_t spared{0};   ///< How often that was put off, because one had keys just then.
    double seconds{0};
    std::uint64_t pairs{0};
    double handovers_per_s{0};  ///< To another process, or task where there is one process.
    double rounds_per_pair{0};
    double wait_mean_ms{0};
    double wait_p50_ms{0};
    double wait_p99_ms{0};
    double wait_max_ms{0};  ///< Those included that failed or went on at the end.
    double share_min{0};    ///< The least pairs of a process or task, 1 if all have as many.
    double share_max{0};
    std::uint64_t failed{0};  ///< Acquisitions that nothing came of within 5 s.
    double cpu_us_per_pair{0};
    double waiting_commands{0};   ///< Per node and second, while one holds and all others wait.
    std::uint64_t violations{0};  ///< Of mutual exclusion.
    std::uint64_t errors{0};      ///< Failed releases, and acquisitions that failed by a node.

    std::optional<double> ratio_to_limit;        ///< Of hand-overs, to those of its queue.
    std::optional<double> ratio_to_uncontended;  ///< Of pairs, to those of one task.

    [[nodiscard]] double pairs_per_s() const { return static_cast<double>(pairs) / seconds; }

    /// Returns the longest wait as a multiple of the time in which each contender gets one pair.
    [[nodiscard]] double wait_max_to_fair() const;
};

/// What contends for how long, on which servers.
struct contention_plan
{
    std::span<const std::uint16_t> ports;
    redlock::mode mode;
    std::chrono::seconds duration;
};

/// Measures eight tasks of one client in one process, beside one task that has no rival.
[[nodiscard]] std::vector<contention_row> measure_contended(const contention_plan& plan);

/// Measures processes with a client each, beside contenders without a library.
[[nodiscard]] std::vector<contention_row> measure_contended_processes(
    const contention_plan& plan,
    const std::vector<crowd>& crowds
);

/// What happens to a process.
enum class fate : std::uint8_t
{
    killed,
    frozen,  ///< By SIGSTOP, until the end.
};

/// Measures processes of which a quarter meets its fate, each at a random moment while it waits.
[[nodiscard]] contention_row measure_casualties(
    const contention_plan& plan,
    const crowd& contenders,
    fate of_victims
);

/// Formats a table for people.
[[nodiscard]] std::string to_table(const std::vector<contention_row>& rows);

/// Formats one JSON object per line, for programs.
[[nodiscard]] std::string to_json_lines(const std::vector<contention_row>& rows);

}  // namespace bench

#endif
