#ifndef REDLOCK_BENCH_RESULT_HPP
#define REDLOCK_BENCH_RESULT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// What one measurement of acquire and release pairs found.
struct result
{
    std::size_t pairs{0};
    double seconds{0};          ///< From the first command to the quorum of the last pair.
    double p50_us{0};           ///< Median latency of a pair.
    double p99_us{0};           ///< Latency that one pair in a hundred exceeds.
    double cpu_us_per_pair{0};  ///< User and system time of the client process.
    std::uint64_t errors{0};    ///< Unexpected replies, failed operations and keys left behind.

    [[nodiscard]] double pairs_per_s() const { return static_cast<double>(pairs) / seconds; }
};

/// What a stretch of work has cost this process.
struct cost
{
    double seconds;
    double cpu_seconds;
};

/// Measures the time that passes and the CPU time that this process uses.
class stopwatch
{
public:
    /// Starts measuring.
    stopwatch();

    /// Returns the cost since the construction.
    [[nodiscard]] cost elapsed() const;

private:
    std::chrono::steady_clock::time_point started_;
    double cpu_started_;
};

/** Sums up a measurement.

    @param spent Taken at the end of the last pair, before anything is evaluated.
    @param latencies_us One latency for each pair, in microseconds, in any order.
    @param errors Everything that went wrong.
*/
[[nodiscard]] result make_result(
    const cost& spent,
    std::vector<float> latencies_us,
    std::uint64_t errors
);

/// Returns the median, zero for no values.
[[nodiscard]] double median(std::vector<double> values);

/// Returns what the parts of one measurement found together. Its percentiles are the means of
/// theirs, so that a part that was slow counts.
[[nodiscard]] result add_up(std::span<const result> parts);

/// Returns the median of each column over `rounds`, and the sum of their errors.
[[nodiscard]] result summarize(std::span<const result> rounds);

/// One line of the report: an implementation at a concurrency.
struct row
{
    std::string impl;
    std::string mode;
    std::size_t concurrency;
    result summary;
};

/// How the library compares to the yardsticks at a concurrency.
struct ratio_row
{
    std::string mode;
    std::size_t concurrency;
    double ratio_to_limit;                         ///< Of plain mode.
    std::optional<double> ratio_to_guarded_limit;  ///< Of the scripts of guarded mode.
};

/// Everything a run has found.
struct report
{
    bool apart{false};  ///< The client had a CPU for itself.
    std::vector<row> rows;
    std::vector<ratio_row> ratios;
};

/// Formats a table for people.
[[nodiscard]] std::string to_table(const report& found);

/// Formats one JSON object per line, for programs.
[[nodiscard]] std::string to_json_lines(const report& found);

}  // namespace bench

#endif
