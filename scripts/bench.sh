#!/usr/bin/env bash
# Builds the benchmark and runs it. See --help.
#
# The standard output carries one JSON object per line and nothing else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=$root/build/bench
program=$build/bench/redlock_bench

if [[ ${1:-} == --help ]]; then
    cat <<'EOF'
usage: scripts/bench.sh [OPTION]...

Installs what is missing (Debian), builds the benchmark and runs it with the options. What these
are is printed here too once it is built.
EOF
    [[ ! -x $program ]] || exec "$program" --help
    exit 0
fi

setup

cd "$root"
cmake --preset release -B "$build" -DREDLOCK_BUILD_BENCH=ON -DREDLOCK_BUILD_EXAMPLES=OFF \
    -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >&2
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_bench >&2
exec "$program" "$@"
