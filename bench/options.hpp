#ifndef REDLOCK_BENCH_OPTIONS_HPP
#define REDLOCK_BENCH_OPTIONS_HPP

#include <redlock/config.hpp>

#include "loop.hpp"
#include "scenario.hpp"
#include "scoreboard.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class scale : std::uint8_t
{
    full,
    quick,
};

struct named_context
{
    const char* name;
    loop::kind kind;
};

/// What the command line asks for.
struct options
{
    scale size{scale::full};
    std::vector<std::string> only;  ///< Empty: the default ones.
    bool apart{false};
    const named_context* context{nullptr};   ///< Null: the default one.
    std::vector<std::size_t> concurrencies;  ///< Empty: the default ones.
    std::optional<std::size_t> rounds;
    std::optional<std::size_t> pairs;
    redlock::mode mode{redlock::mode::guarded};  ///< Of those who wait.
    std::vector<crowd> crowds;                   ///< Empty: those that the benchmark chooses.
    std::vector<scenario> scenarios;             ///< The same.
    std::optional<std::size_t> seconds;
    std::optional<std::size_t> times;

    /// Returns whether `--only` names this benchmark.
    [[nodiscard]] bool names(std::string_view benchmark) const;

    /// Returns whether pairs are to be measured, those on nodes that may fail over among them, and
    /// whether frozen and closed servers are.
    /// @{
    [[nodiscard]] bool wants_pairs() const;
    [[nodiscard]] bool wants_overlap() const;
    [[nodiscard]] bool wants_faults() const;
    /// @}
};

/** Reads the command line. Prints the usage and ends the program if there is no way to read it so.

    @throws std::invalid_argument If options do not go together.
*/
[[nodiscard]] options parse_options(int argc, char** argv);

}  // namespace bench

#endif
