#ifndef REDLOCK_BENCH_LIMIT_HPP
#define REDLOCK_BENCH_LIMIT_HPP

#include <redlock/config.hpp>

#include "result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/** Measures acquire and release pairs of a client without any library: the yardstick.

    @param ports Redis servers on 127.0.0.1, at least one.
    @param concurrency Tasks that run pairs at the same time, each on a key of its own, at least 1.
    @param pairs Pairs in total, at least `concurrency`.
    @throws std::runtime_error If a server fails, misbehaves or stays silent.
*/
[[nodiscard]] result run_limit(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/// The same with the scripts of guarded mode, for as many questions at a time as are due in a turn:
/// what these scripts cost without a library. The servers have been initialized.
[[nodiscard]] result run_guarded_limit(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/** Acquires free keys that begin with `burst:`, and releases none.

    @param window So many at a time, at least 1.
    @param acquisitions In total, at least `window`.
    @return How long it took, in seconds.
*/
[[nodiscard]] double run_limit_burst(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t window,
    std::size_t acquisitions
);

}  // namespace bench

#endif
