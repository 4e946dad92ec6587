#ifndef REDLOCK_BENCH_WAITER_HPP
#define REDLOCK_BENCH_WAITER_HPP

#include <redlock/config.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

/// What processes that wait for a lock have in common with the one that watches them.
struct stage
{
    using clock = std::chrono::steady_clock;

    std::atomic<std::size_t> ready{0};     ///< Processes that are connected.
    std::atomic<std::uint64_t> turn{0};    ///< Raised for all tasks to ask once more.
    std::atomic<std::size_t> asking{0};    ///< Tasks that have asked in this turn.
    std::atomic<clock::rep> entered{0};    ///< When the first one had its lease in this turn.
    std::atomic<std::size_t> done{0};      ///< Tasks that are through with this turn.
    std::atomic<std::uint64_t> failed{0};  ///< Acquisitions that came to nothing, in all turns.
    std::atomic<bool> over{false};         ///< No more turns.
};

/// Acquires and releases a resource once in each turn and task, with one `redlock::client`, until
/// it is over.
void wait_in_turns(
    stage& watched,
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t tasks,
    const std::string& resource
);

/// Tasks of one client that waited for what another process held.
struct waiting_row
{
    std::size_t tasks{0};
    redlock::mode mode{};
    double seconds{0};
    double cpu_share{0};        ///< Of one core.
    double commands{0};         ///< Per node.
    std::uint64_t acquired{0};  ///< Of which there should be none.
    std::uint64_t errors{0};    ///< Acquisitions that failed for another reason than the holder.
};

/// Lets them wait for so long. @pre `duration` is at most 20 s.
[[nodiscard]] waiting_row measure_waiting(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t tasks,
    std::chrono::seconds duration
);

[[nodiscard]] std::string to_table(const waiting_row& found);
[[nodiscard]] std::string to_json_line(const waiting_row& found);

}  // namespace bench

#endif
