#ifndef REDLOCK_BENCH_COMPARISON_HPP
#define REDLOCK_BENCH_COMPARISON_HPP

#include "options.hpp"
#include "placement.hpp"
#include "result.hpp"

#include <cstdint>
#include <span>

namespace bench {

/// Measures the pairs of the library and of the bare client on the same servers, by turns.
[[nodiscard]] report compare_pairs(
    const options& chosen,
    const placement& where,
    std::span<const std::uint16_t> ports
);

}  // namespace bench

#endif
