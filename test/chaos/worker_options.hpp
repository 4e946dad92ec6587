#ifndef REDLOCK_TEST_CHAOS_WORKER_OPTIONS_HPP
#define REDLOCK_TEST_CHAOS_WORKER_OPTIONS_HPP

#include <redlock/time.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "chaos/mode.hpp"

namespace redlock::test {

/** What a worker does: takes one of some resources, holds it for a moment, gives it back, again.

    Handed over as arguments of the program, a name and a value each.
*/
struct worker_options
{
    std::string nodes{};  ///< URLs separated by commas.
    protection how{};
    std::filesystem::path log{};     ///< Where its history goes. Nobody else writes there.
    std::uint64_t acquisitions = 0;  ///< Ends after so many. Zero: goes on until it is killed.
    std::uint32_t first_resource = 0;
    std::uint32_t resources = 4;  ///< How many there are from the first one on, at least one.
    milliseconds ttl{2'000};
    milliseconds node_timeout{200};

    /// For `acquire_options::wait`. Zero: one round at a time, and what was wrong with each round
    /// that was not granted is in the notes. Otherwise contention is no news.
    milliseconds wait{0};

    /// How long it holds a resource at most, and how long one time of so many.
    milliseconds hold{0};
    milliseconds long_hold{0};
    std::uint32_t one_long_of = 8;
};

[[nodiscard]] std::vector<std::string> to_arguments(const worker_options& options);

/// Throws if an argument is not one of `to_arguments`.
[[nodiscard]] worker_options worker_options_from(const std::vector<std::string>& arguments);

/// How a resource is called that a claim has the number of.
[[nodiscard]] std::string resource_name(std::uint32_t number);

}  // namespace redlock::test

#endif
