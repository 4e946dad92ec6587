#ifndef REDLOCK_BENCH_FAULTS_HPP
#define REDLOCK_BENCH_FAULTS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace bench {

/// Latency of acquiring, with the nodes in one state.
struct fault_row
{
    std::string nodes;  ///< "healthy", "two_frozen" or "two_closed".
    double p50_us{0};   ///< Median over the rounds.
    double p99_us{0};
    double ratio_to_healthy{0};  ///< Of the medians, the median of the rounds.
    std::size_t errors{0};
};

/** Acquires and releases one resource after the other, while two of five servers are stopped by a
    signal, and while they are gone.

    One client lives through all of it. The states alternate, `rounds` times.
*/
[[nodiscard]] std::vector<fault_row> measure_faults(
    redlock::test::redis_servers& servers,
    std::size_t rounds,
    std::size_t pairs
);

/// Formats a table for people.
[[nodiscard]] std::string to_table(const std::vector<fault_row>& rows);

/// Formats one JSON object per line, for programs.
[[nodiscard]] std::string to_json_lines(const std::vector<fault_row>& rows);

}  // namespace bench

#endif
