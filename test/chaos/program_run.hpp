#ifndef REDLOCK_TEST_CHAOS_PROGRAM_RUN_HPP
#define REDLOCK_TEST_CHAOS_PROGRAM_RUN_HPP

#include <redlock/time.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

namespace redlock::test {

/// A run: `redlock run` and `redlock lead` compete while they get TERM, KILL, STOP, TSTP and CONT
/// at random moments, and nodes restart and stand still.
struct program_settings
{
    std::uint32_t seconds = 10;
    std::uint32_t seed = 1;
    std::uint32_t nodes = 3;
    std::uint32_t runs = 4;   ///< Processes of `redlock run`.
    std::uint32_t leads = 4;  ///< Processes of `redlock lead`.
    milliseconds ttl{1'500};
};

template <class Settings, class F>
    requires std::same_as<std::remove_const_t<Settings>, program_settings>
void each_option(Settings& settings, F what)
{
    what("seconds", settings.seconds);
    what("seed", settings.seed);
    what("nodes", settings.nodes);
    what("runs", settings.runs);
    what("leads", settings.leads);
    what("ttl", settings.ttl);
}

/// What came of a run.
struct program_report
{
    program_settings settings{};
    std::size_t jobs = 0;     ///< Commands that have begun.
    std::size_t writes = 0;   ///< That the store has accepted.
    std::size_t refused = 0;  ///< Of commands whose wrapper stood still.
    std::size_t beside = 0;   ///< Such commands that others worked beside.
    milliseconds longest_stall{0};
    std::map<std::string, std::size_t> harm{};    ///< How often, by kind.
    std::map<std::string, std::size_t> faults{};  ///< The same.
    std::string journal{};

    [[nodiscard]] bool clean() const { return faults.empty(); }
};

[[nodiscard]] program_report run_programs(const program_settings& settings);

/// A few lines. The journal too if something went wrong.
[[nodiscard]] std::string describe(const program_report& report);

}  // namespace redlock::test

#endif
