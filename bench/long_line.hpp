#ifndef REDLOCK_BENCH_LONG_LINE_HPP
#define REDLOCK_BENCH_LONG_LINE_HPP

#include <redlock/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/redis_server.hpp"

namespace bench {

/// What a line of many waiters costs the loop that they share with others.
struct long_line_row
{
    redlock::mode mode{};
    std::size_t waiters{0};
    std::uint64_t grants{0};  ///< Before the client was closed.

    // The longest handler, in milliseconds of the thread's CPU time.
    double to_line_up{0};  ///< Each of which starts a hundred acquisitions.
    double to_serve{0};    ///< While the resource goes from one to the next.
    double to_end{0};      ///< From closing the client to its end.

    bool neighbour_lost{false};  ///< A lease of the same client that extends itself.
};

/// Lets so many acquisitions with reports wait for one resource, with an observer.
[[nodiscard]] long_line_row measure_long_line(
    redlock::test::redis_servers& servers,
    redlock::mode mode,
    std::size_t waiters
);

[[nodiscard]] std::string to_table(const long_line_row& row);
[[nodiscard]] std::string to_json_line(const long_line_row& row);

}  // namespace bench

#endif
