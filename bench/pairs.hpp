#ifndef REDLOCK_BENCH_PAIRS_HPP
#define REDLOCK_BENCH_PAIRS_HPP

#include <redlock/config.hpp>

#include "result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// What the clients are told. @param ports Redis servers on 127.0.0.1, at least one.
[[nodiscard]] redlock::client_config make_config(
    std::span<const std::uint16_t> ports,
    redlock::mode mode
);

/// The same for clients that contend: for ttls of 2 s and more.
[[nodiscard]] redlock::client_config make_waiting_config(
    std::span<const std::uint16_t> ports,
    redlock::mode mode
);

/// Tells fresh servers that they may vote in guarded mode.
void initialize_nodes(std::span<const std::uint16_t> ports);

/** Measures acquire and release pairs of `redlock::client` in plain mode, as `run_limit` measures
    its own.

    @param ports Redis servers on 127.0.0.1, at least one.
    @param concurrency Tasks that run pairs at the same time, each on a key of its own, at least 1.
    @param pairs Pairs in total, at least `concurrency`.
*/
[[nodiscard]] result run_plain(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/// The same in guarded mode. The servers have been initialized.
[[nodiscard]] result run_guarded(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/// The same with nodes that may fail over. The first run waits for their quarantine.
[[nodiscard]] result run_guarded_with_overlap(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

}  // namespace bench

#endif
