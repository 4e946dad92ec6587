#ifndef REDLOCK_TEST_CHAOS_CLOCK_STEP_RUN_HPP
#define REDLOCK_TEST_CHAOS_CLOCK_STEP_RUN_HPP

#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace redlock::test {

/// What became of the second of two clients.
struct clock_step_outcome
{
    error_code code{};     ///< Of its acquisition.
    bool granted = false;  ///< Whether it has the resource.
    bool both = false;     ///< Whether it has it while the lease of the first one is valid.
    diagnostics report{};  ///< What the nodes said.

    // Of what both do to a fenced store, which takes no access without a token.
    std::size_t accesses = 0;      ///< Accepted of who had the resource at the time.
    std::size_t stale_writes = 0;  ///< Accepted of the first after the second has read.
};

/** The schedule in which a clock breaks Redlock.

    One client is granted a resource by exactly the nodes 1, 2 and 3. Then the clock of node 3
    steps, and another client tries, which reaches exactly the nodes 3, 4 and 5. At last the first
    one gives back, all nodes can be reached, and the second one acquires. Then a write of the first
    one comes late. With tokens, both read and write a fenced store while they hold.
*/
[[nodiscard]] clock_step_outcome run_clock_step(
    const std::string& mode,
    std::chrono::nanoseconds step
);

}  // namespace redlock::test

#endif
