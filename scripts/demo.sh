#!/usr/bin/env bash
# Builds the demo and runs it. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=$root/build/demo
program=$build/examples/demo/redlock_demo

if [[ ${1:-} == --help ]]; then
    cat <<'EOF'
usage: scripts/demo.sh [OPTION]...

Installs what is missing (Debian), builds the demo and runs it with the options. The demo starts
Redis servers of its own and stops them at its end.
EOF
    [[ ! -x $program ]] || exec "$program" --help
    exit 0
fi

setup

cd "$root"
cmake --preset release -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_demo
exec "$program" "$@"
