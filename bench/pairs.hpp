#ifndef REDLOCK_BENCH_PAIRS_HPP
#define REDLOCK_BENCH_PAIRS_HPP

#include "result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/** Measures acquire and release pairs of `redlock::client`, as `run_limit` measures its own.

    @param ports Redis servers on 127.0.0.1, at least one.
    @param concurrency Tasks that run pairs at the same time, each on a key of its own, at least 1.
    @param pairs Pairs in total, at least `concurrency`.
*/
[[nodiscard]] result run_redlock(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

}  // namespace bench

#endif
