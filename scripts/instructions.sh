#!/usr/bin/env bash
# Counts the instructions of a pair. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/instructions.sh [--write]

Installs what is missing (Debian), builds what scripts/test.sh builds for it, and counts the
instructions of an acquisition and its release, in the client and in a server. Fails if they differ
from bench/instructions/table.txt by more than 2 %, or the client's allocations by more than 0.25.

  --write   changes the table instead, or adds a section for this compiler and this server
USAGE
}

options=()
while (($#)); do
    case $1 in
    --write) options+=("$1") ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
setup bench

build=$root/build/test
cd "$root"
# As in scripts/test.sh: other flags make other instructions.
cmake --preset ci -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >&2
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_instructions >&2
exec scripts/instructions.py "$build/bench/instructions/redlock_instructions" \
    "$build/bench/instructions/libredlock_same_seed.so" "${options[@]}"
