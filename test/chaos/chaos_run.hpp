#ifndef REDLOCK_TEST_CHAOS_CHAOS_RUN_HPP
#define REDLOCK_TEST_CHAOS_CHAOS_RUN_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "chaos/checker.hpp"
#include "chaos/history.hpp"

namespace redlock::test {

/// A run: workers compete while a nemesis does harm, until the time is over.
struct chaos_settings
{
    std::string mode = "guarded";  ///< Or "plain".

    /// What is left out, so that the run must fail: "none", "fencing" (the store compares no
    /// tokens), "quarantine" (a node that forgot votes at once), "compare" (workers give back by
    /// `DEL`). Such a run ends with the first violation.
    std::string without = "none";

    std::uint64_t seconds = 30;

    /// Every so many seconds, all nodes restart in turn while nothing else is wrong, and leases are
    /// held that must outlive that. Zero: never. In guarded mode.
    std::uint64_t rolling = 0;

    /// The clock of each node is so many milliseconds ahead of that of the one before it.
    std::uint64_t spread = 0;

    std::uint64_t acquisitions = 0;  ///< Ends after so many, too. Zero: whatever the time brings.
    std::uint64_t seed = 0;          ///< Of the faults. Zero: another one each time.
    std::uint32_t workers = 8;
    std::uint32_t polling = 0;  ///< How many of the workers do not wait in queues.
    std::uint32_t tasks = 3;    ///< Of each worker.
    std::uint32_t resources = 8;
    std::string faults{};          ///< Names separated by commas. Empty: what suits the mode.
    std::filesystem::path keep{};  ///< Where logs go. Empty: nowhere.
};

template <class Settings, class F>
    requires std::same_as<std::remove_const_t<Settings>, chaos_settings>
void each_option(Settings& settings, F what)
{
    what("mode", settings.mode);
    what("without", settings.without);
    what("seconds", settings.seconds);
    what("rolling", settings.rolling);
    what("spread", settings.spread);
    what("acquisitions", settings.acquisitions);
    what("seed", settings.seed);
    what("workers", settings.workers);
    what("polling", settings.polling);
    what("tasks", settings.tasks);
    what("resources", settings.resources);
    what("faults", settings.faults);
    what("keep", settings.keep);
}

/// A time in which nodes were restarted in turn.
struct rolling_restart
{
    moment begin{};
    moment end = never;  ///< Never: not all nodes had all leases again in time.
};

/// What came of a run.
struct chaos_report
{
    chaos_settings settings{};  ///< With the seed that was used.
    history all{};
    std::vector<violation> violations{};
    std::map<std::string, std::size_t> faults{};  ///< How often each was done.
    std::vector<rolling_restart> rolling{};
    std::size_t lost_without_cause = 0;  ///< Leases lost while nodes were restarted in turn.
    bool live = true;      ///< Whether each worker went on when all was healed, each time.
    std::string output{};  ///< What workers said, which is nothing if all went well.
    double seconds = 0;

    [[nodiscard]] bool clean() const
    {
        return violations.empty() && live && output.empty() && lost_without_cause == 0;
    }
};

/// Throws if the settings are not as described there.
[[nodiscard]] chaos_report run_chaos(const chaos_settings& settings);

/// A page of text.
[[nodiscard]] std::string describe(const chaos_report& report);

}  // namespace redlock::test

#endif
