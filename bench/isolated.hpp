#ifndef REDLOCK_BENCH_ISOLATED_HPP
#define REDLOCK_BENCH_ISOLATED_HPP

#include "result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// Measures `pairs` pairs of `concurrency` tasks on the servers at `ports`.
using run_function = result (*)(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/** Calls `run` in a child process, so that CPU time and heap are its own.

    @throws std::runtime_error If the child fails or takes longer than two minutes.
*/
[[nodiscard]] result run_isolated(
    run_function run,
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

}  // namespace bench

#endif
