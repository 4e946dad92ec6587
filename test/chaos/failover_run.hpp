#ifndef REDLOCK_TEST_CHAOS_FAILOVER_RUN_HPP
#define REDLOCK_TEST_CHAOS_FAILOVER_RUN_HPP

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "chaos/checker.hpp"
#include "chaos/history.hpp"
#include "support/redis_group.hpp"

namespace redlock::test {

/// A run: workers compete for one resource, on nodes that are groups of a master and replicas and
/// that fail over again and again, one at a time.
struct failover_settings
{
    /// How: "command" (of a Sentinel), "kill", "freeze", "cut" (from all but its clients) the
    /// master, or hand over "there and back" as an operator does.
    std::string kind = "command";

    std::uint32_t failovers = 10;
    std::uint32_t groups = 1;
    std::uint32_t replicas = 1;      ///< Of each group.
    std::uint32_t min_replicas = 1;  ///< That the servers are told to wait for.

    /// That clients promise, in milliseconds. 0: it is derived from what the servers are told.
    std::uint32_t overlap = 0;

    std::uint32_t workers = 8;

    /// Of the Sentinels. Where they hurry, a master that is harmed is back after 2 s, not 4 s.
    sentinel_pace pace = sentinel_pace::as_shipped;
};

template <class Settings, class F>
    requires std::same_as<std::remove_const_t<Settings>, failover_settings>
void each_option(Settings& settings, F what)
{
    what("kind", settings.kind);
    what("failovers", settings.failovers);
    what("groups", settings.groups);
    what("replicas", settings.replicas);
    what("min_replicas", settings.min_replicas);
    what("overlap", settings.overlap);
    what("workers", settings.workers);
}

/// What came of a run.
struct failover_report
{
    failover_settings settings{};
    history all{};
    std::vector<violation> violations{};
    std::vector<std::chrono::milliseconds> pauses{};  ///< Without a grant, in each failover.
    bool live = true;      ///< Whether there were grants after each failover.
    std::string output{};  ///< What workers said.

    [[nodiscard]] bool clean() const { return violations.empty() && live; }
};

/// How long one group is without locks at most: the detection, the return of the old master as a
/// replica, the quarantine.
[[nodiscard]] std::chrono::milliseconds bound_of(const failover_settings& settings);

/// Throws if the settings are not as described there.
[[nodiscard]] failover_report run_failovers(const failover_settings& settings);

/// Some lines of text.
[[nodiscard]] std::string describe(const failover_report& report);

}  // namespace redlock::test

#endif
