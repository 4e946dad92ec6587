#ifndef REDLOCK_BENCH_ABSENCE_HPP
#define REDLOCK_BENCH_ABSENCE_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/redis_server.hpp"

namespace bench {

/// What makes a node be away.
enum class absence : std::uint8_t
{
    frozen,     ///< It is back at once.
    restarted,  ///< It has forgotten all, and is back after its quarantine.
};

/// What many leases that extend themselves go through while a node is away for 15 s.
struct absence_row
{
    absence how{};
    std::size_t leases{0};
    std::uint64_t lost_before{0};  ///< Without any absence: the machine is too slow for so many.
    std::uint64_t lost{0};
    std::size_t missing{0};      ///< Leases that not all nodes have, one ttl after the return.
    double complete_after_s{0};  ///< From the return until all nodes have all leases.
    double failed_per_lease{0};  ///< Extensions.
    double rounds_per_lease{0};  ///< From the beginning of the absence until all is complete.

    // The longest handler, in milliseconds of the thread's CPU time.
    double away_ms{0};    ///< While the node was away or in quarantine.
    double return_ms{0};  ///< From the return on.

    [[nodiscard]] bool well() const
    {
        return lost == 0 && missing == 0 && failed_per_lease <= 2 && return_ms <= 5;
    }
};

/// Holds so many leases, with a ttl of 10 s. The last server is the one that is away.
[[nodiscard]] absence_row measure_absence(
    redlock::test::redis_servers& servers,
    absence how,
    std::size_t leases
);

[[nodiscard]] std::string to_table(const absence_row& row);
[[nodiscard]] std::string to_json_line(const absence_row& row);

}  // namespace bench

#endif
