#ifndef REDLOCK_BENCH_BURST_HPP
#define REDLOCK_BENCH_BURST_HPP

#include <redlock/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace bench {

/// Processes that ask for many free resources at once.
struct burst_plan
{
    redlock::mode mode{};
    std::size_t processes{1};
    std::size_t acquisitions{};          ///< Of each process.
    std::chrono::milliseconds away{0};   ///< How far the nodes are, there and back.
    std::chrono::milliseconds stall{0};  ///< A quorum stands still for so long meanwhile.
};

/// What became of them. Times are medians.
struct burst_row
{
    burst_plan plan;
    std::size_t nodes{0};
    double seconds{0};  ///< From asking, or from the end of the stall, until all were granted.
    double first_seconds{0};       ///< The same for the process that was through first.
    double bare_seconds{0};        ///< Of the bare client with its best window.
    std::size_t bare_window{0};    ///< That window. Zero: it was not asked.
    std::uint64_t not_granted{0};  ///< In all runs, as the next ones.
    std::uint64_t rounds_lost{0};
    std::uint64_t rounds{0};
    std::uint64_t neighbours_lost{0};  ///< Leases of another process on the same nodes.
    std::uint64_t left{0};             ///< Keys on the nodes after the clients were closed.
};

/// Measures that some times on initialized servers. By turns with the bare client, if one process
/// asks near nodes that do not stall.
[[nodiscard]] burst_row measure_burst(
    redlock::test::redis_servers& servers,
    const burst_plan& plan,
    std::size_t times
);

[[nodiscard]] std::string to_table(const std::vector<burst_row>& rows);
[[nodiscard]] std::string to_json_lines(const std::vector<burst_row>& rows);

/// Many leases that extend themselves while a quorum stands still.
struct stalled_leases_row
{
    redlock::mode mode{};
    std::size_t leases{0};
    std::chrono::milliseconds stall{0};
    std::uint64_t lost{0};
    double failed_per_lease{0};  ///< Extensions in vain.
};

[[nodiscard]] stalled_leases_row measure_stalled_leases(
    redlock::test::redis_servers& servers,
    redlock::mode mode,
    std::size_t leases,
    std::chrono::milliseconds stall
);

[[nodiscard]] std::string to_table(const stalled_leases_row& found);
[[nodiscard]] std::string to_json_line(const stalled_leases_row& found);

}  // namespace bench

#endif
