#!/usr/bin/env bash
# Builds the benchmark with optimization and runs it.
#
#   scripts/bench.sh [--quick] [any other option of redlock_bench]
#
# The standard output carries one JSON object per line and nothing else.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Sourced, because it extends the search path; in a function, so that it sees no arguments of ours.
set_up() { source scripts/setup.sh; }
set_up >&2

cmake -S . -B build/bench -G Ninja \
    -DCMAKE_BUILD_TYPE=Release \
    -DREDLOCK_BUILD_BENCH=ON \
    -DREDLOCK_BUILD_TESTS=OFF >&2
cmake --build build/bench --target redlock_bench >&2

exec build/bench/bench/redlock_bench "$@"
