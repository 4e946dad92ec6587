#ifndef REDLOCK_BENCH_COMPARISON_HPP
#define REDLOCK_BENCH_COMPARISON_HPP

#include "options.hpp"
#include "placement.hpp"
#include "result.hpp"

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace bench {

/// Where pairs are measured.
struct pair_nodes
{
    std::vector<std::uint16_t> plain;         ///< Initialized.
    std::vector<std::uint16_t> with_overlap;  ///< May fail over. Empty if nobody asks for them.
    std::vector<::pid_t> servers;             ///< All of these.
};

/// Measures the pairs of the library and of the bare client on the same servers, by turns.
[[nodiscard]] report compare_pairs(
    const options& chosen,
    const placement& where,
    const pair_nodes& nodes
);

}  // namespace bench

#endif
