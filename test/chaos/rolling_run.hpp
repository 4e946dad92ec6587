#ifndef REDLOCK_TEST_CHAOS_ROLLING_RUN_HPP
#define REDLOCK_TEST_CHAOS_ROLLING_RUN_HPP

#include <redlock/time.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace redlock::test {

/// A run: one node after the other goes away and comes back, as docs/operations.md says, while
/// leases of every kind are held.
struct rolling_settings
{
    std::uint32_t nodes = 3;

    /// What becomes of a node: "none" or "appendonly", it restarts with that much of its data; or
    /// "frozen", it stands still for longer than the longest ttl.
    std::string how = "none";

    std::uint32_t rounds = 3;      ///< Each takes every node away once.
    std::uint32_t waiters = 0;     ///< Clients that want what is held. Half of them poll.
    milliseconds spread{0};        ///< Between the clocks of two neighboring nodes.
    milliseconds ttl{1'000};       ///< Of half of the leases.
    milliseconds ttl_max{10'000};  ///< Of the others.
};

template <class Settings, class F>
    requires std::same_as<std::remove_const_t<Settings>, rolling_settings>
void each_option(Settings& settings, F what)
{
    what("nodes", settings.nodes);
    what("how", settings.how);
    what("rounds", settings.rounds);
    what("waiters", settings.waiters);
    what("spread", settings.spread);
    what("ttl", settings.ttl);
    what("ttl_max", settings.ttl_max);
}

/// What came of a run.
struct rolling_report
{
    rolling_settings settings{};
    std::size_t holds = 0;
    std::vector<milliseconds> returns{};  ///< From a node's return until it has all holds again.
    milliseconds longest_stall{0};        ///< Of the machine, as far as a thread sees.
    std::map<std::string, std::size_t> faults{};  ///< How often, by kind.
    std::string journal{};                        ///< What happened when, a line each.

    [[nodiscard]] bool clean() const { return faults.empty(); }
};

/// Throws if the settings are not as described there.
[[nodiscard]] rolling_report run_rolling(const rolling_settings& settings);

/// A line. The journal too if something went wrong.
[[nodiscard]] std::string describe(const rolling_report& report);

}  // namespace redlock::test

#endif
