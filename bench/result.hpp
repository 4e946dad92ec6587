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
    double seconds{0};             ///< From the first command to the quorum of the last pair.
    double p50_us{0};              ///< Median latency of a pair.
    double p99_us{0};              ///< Latency that one pair in a hundred exceeds: see `add_up`.
    double cpu_us_per_pair{0};     ///< User and system time of the client process.
    double server_us_per_pair{0};  ///< The same of a server, with what connecting costs.
    std::uint64_t errors{0};       ///< Unexpected replies, failed operations and keys left behind.

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

/** Counts the pairs of a measurement.

    The first ones are not part of it: while its memory is fresh a client is slower, and one that
    uses more memory more so.
*/
class pair_meter
{
public:
    /// @param pairs To be measured, at least 1.
    explicit pair_meter(std::size_t pairs);

    /// Returns how many pairs to do, with those that come before the measurement.
    [[nodiscard]] static std::size_t total_of(std::size_t pairs) { return pairs / 4 + pairs; }
    [[nodiscard]] std::size_t total() const { return warm_up_ + pairs_; }

    /// Returns whether all are done.
    [[nodiscard]] bool done() const { return spent_.has_value(); }

    /// Begins. Call it with the first command.
    void start();

    /// Adds a pair that is done.
    void add(std::chrono::duration<float, std::micro> latency);

    /// Sums up, when all are done. @param errors Everything that went wrong.
    [[nodiscard]] result sum_up(std::uint64_t errors);

private:
    std::size_t warm_up_;
    std::size_t pairs_;
    std::size_t left_of_warm_up_{warm_up_};
    std::vector<float> latencies_us_;
    stopwatch watch_;
    std::optional<cost> spent_;
};

/// Returns the value below which `percent` of the sorted values lie, zero for no values; of 100 the
/// greatest one.
[[nodiscard]] double percentile(const std::vector<float>& sorted, std::size_t percent);

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
    bool apart{false};    ///< The client had a CPU for itself.
    std::string context;  ///< Of the library. Empty: the default one.
    std::vector<row> rows;
    std::vector<ratio_row> ratios;
};

/// Formats a table for people.
[[nodiscard]] std::string to_table(const report& found);

/// Formats one JSON object per line, for programs.
[[nodiscard]] std::string to_json_lines(const report& found);

}  // namespace bench

#endif
