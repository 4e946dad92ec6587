#ifndef REDLOCK_BENCH_INQUIRIES_HPP
#define REDLOCK_BENCH_INQUIRIES_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace bench {

/// What one client's operations of one kind take that all begin at once, beside as many
/// acquisitions.
struct inquiries_row
{
    std::string what{};
    std::size_t count{0};
    std::uint64_t failed{0};  ///< They gave an error, or too few nodes answered.
    double median_s{0};       ///< From the beginning of all to an answer.
    double longest_s{0};
    std::uint64_t not_granted{0};  ///< Acquisitions beside them.
    double granted_s{0};           ///< Until the last of these.

    // Of pairs, one after the other, by another client on another thread.
    std::uint64_t neighbour_failed{0};
    double neighbour_longest_s{0};

    [[nodiscard]] bool well() const { return failed + not_granted + neighbour_failed == 0; }
};

/// One row for each kind, and one for the acquisitions alone.
[[nodiscard]] std::vector<inquiries_row> measure_inquiries(
    redlock::test::redis_servers& servers,
    std::size_t count
);

[[nodiscard]] std::string to_table(const std::vector<inquiries_row>& rows);
[[nodiscard]] std::string to_json_lines(const std::vector<inquiries_row>& rows);

}  // namespace bench

#endif
