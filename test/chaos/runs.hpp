#ifndef REDLOCK_TEST_CHAOS_RUNS_HPP
#define REDLOCK_TEST_CHAOS_RUNS_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "chaos/claim.hpp"

/// The runs, in either mode. What must come of them is said by the tests.
namespace redlock::test {

/// How many: a few for every day, all with REDLOCK_TEST_LONG in the environment.
[[nodiscard]] std::uint64_t size_of_run(std::uint64_t few, std::uint64_t all);

/// Nodes and workers whose clocks are years apart compete, while nodes stand still and are killed.
/// Nodes keep their data. The seed is printed, and read from REDLOCK_TEST_SEED if it is set.
[[nodiscard]] history run_skewed_clients(const std::string& mode, std::uint64_t acquisitions);

/// One worker whose clock is off, and which has each resource to itself.
[[nodiscard]] history run_one_skewed(
    const std::string& mode,
    std::chrono::nanoseconds skew,
    std::uint64_t acquisitions
);

/// Workers that do not compete, with clocks that are right and nodes that are well.
[[nodiscard]] history run_undisturbed(const std::string& mode, std::uint64_t acquisitions);

/// What becomes of a node that was killed and has forgotten all.
enum class restart_guard : std::uint8_t
{
    on,
    bypassed,  ///< The node is marked at once, as if it had not been away. For the control.
};

/** Workers compete while nodes that keep nothing are killed and started again at once: a minority,
    one after the other, all, and so on. There are at least 50 acquisitions after each time.

    @param stop If given, asked after each cycle whether the history is long enough.
*/
[[nodiscard]] history run_amnesia(
    const std::string& mode,
    restart_guard guard,
    std::uint64_t cycles,
    const std::function<bool(const history&)>& stop
);

/// How many rounds the acquisitions took, and why some took more than one, in words.
[[nodiscard]] std::string describe_rounds(const history& all);

/// The part of the acquisitions that took one round, 0 to 1.
[[nodiscard]] double share_of_one_round(const history& all);

}  // namespace redlock::test

#endif
