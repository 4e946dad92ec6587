#ifndef REDLOCK_TEST_CHAOS_CLOCK_STEP_RUN_HPP
#define REDLOCK_TEST_CHAOS_CLOCK_STEP_RUN_HPP

#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <string>

namespace redlock::test {

/// What became of the second of two clients.
struct clock_step_outcome
{
    error_code code{};     ///< Of its acquisition.
    bool granted = false;  ///< Whether it has the resource.
    bool both = false;     ///< Whether it has it while the lease of the first one is valid.
    diagnostics report{};  ///< What the nodes said.
};

/** The schedule in which a clock breaks Redlock.

    One client is granted a resource by exactly the nodes 1, 2 and 3. Then the clock of node 3
    steps, and another client tries, which reaches exactly the nodes 3, 4 and 5.
*/
[[nodiscard]] clock_step_outcome run_clock_step(
    const std::string& mode,
    std::chrono::nanoseconds step
);

}  // namespace redlock::test

#endif
