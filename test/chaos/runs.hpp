#ifndef REDLOCK_TEST_CHAOS_RUNS_HPP
#define REDLOCK_TEST_CHAOS_RUNS_HPP

#include <chrono>
#include <cstdint>
#include <string>

#include "chaos/history.hpp"

/// Runs without a nemesis, in either mode. What must come of them is said by the tests.
namespace redlock::test {

/// How many: a few for every day, all with REDLOCK_TEST_LONG in the environment.
[[nodiscard]] std::uint64_t size_of_run(std::uint64_t few, std::uint64_t all);

/// One worker whose clock is off, and which has each resource to itself.
[[nodiscard]] history run_one_skewed(
    const std::string& mode,
    std::chrono::nanoseconds skew,
    std::uint64_t acquisitions
);

/// Workers that do not compete, with clocks that are right and nodes that are well.
[[nodiscard]] history run_undisturbed(const std::string& mode, std::uint64_t acquisitions);

/// How many rounds the acquisitions took, and why some took more than one, in words.
[[nodiscard]] std::string describe_rounds(const history& all);

/// The part of the acquisitions that took one round, 0 to 1.
[[nodiscard]] double share_of_one_round(const history& all);

}  // namespace redlock::test

#endif
