#ifndef REDLOCK_BENCH_VACANCY_HPP
#define REDLOCK_BENCH_VACANCY_HPP

#include <redlock/config.hpp>

#include "scoreboard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

/// Why a lock gets free without a release that its waiters are told of.
enum class vacancy_cause : std::uint8_t
{
    killed_holder,    ///< A client of the library died. Counted from the end of its ttl.
    foreign_release,  ///< Another client compares and deletes. Counted from the third node.
    expiry,           ///< Another client lets its ttl pass. Counted from its end on the third node.
};

/// How often it is to get free, and who waits for it.
struct vacancy_plan
{
    vacancy_cause cause;
    redlock::mode mode;
    crowd waiters;
    std::size_t times;
};

/// How long it was free until a waiter had its lease.
struct vacancy_row
{
    std::string name;
    std::string mode;
    crowd waiters{};
    std::size_t times{0};
    double ttl_ms{0};  ///< Of the one before; zero where each time it was another.
    double p50_ms{0};
    double p99_ms{0};
    double max_ms{0};
    std::uint64_t failed{0};  ///< Waiters that came away empty.
};

[[nodiscard]] vacancy_row measure_vacancy(
    std::span<const std::uint16_t> ports,
    const vacancy_plan& plan
);

[[nodiscard]] std::string to_table(const vacancy_row& found);
[[nodiscard]] std::string to_json_line(const vacancy_row& found);

}  // namespace bench

#endif
