#ifndef REDLOCK_BENCH_LEASES_HPP
#define REDLOCK_BENCH_LEASES_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// How many leases are held at once, and for how long.
struct leases_plan
{
    std::size_t leases;
    std::chrono::milliseconds ttl;
    std::chrono::seconds held_for;
};

/// What it took to keep them.
struct leases_row
{
    std::string_view mode;  ///< Of a literal.
    leases_plan plan;
    std::uint64_t lost;
    std::uint64_t extended;
    std::uint64_t failed;    ///< Extensions that had to be repeated.
    double acquire_seconds;  ///< To get them all.
    double cpu_share;        ///< Of one core, of this process, while they were held.
    double bytes_per_lease;  ///< Resident memory.
    double round_p99_ms;     ///< From the first command of an extension to its quorum.
    double interval_p99_ms;  ///< Between two extensions of one lease. A third is due.
};

/// Holds many leases that are extended automatically, on servers at these ports.
[[nodiscard]] leases_row measure_leases(
    std::string_view mode,
    std::span<const std::uint16_t> ports,
    const leases_plan& plan
);

[[nodiscard]] std::string to_table(const leases_row& found);
[[nodiscard]] std::string to_json_line(const leases_row& found);

}  // namespace bench

#endif
