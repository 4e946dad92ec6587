#!/usr/bin/env bash
# Builds the chat room and its load program, and runs it. See --help.
set -euo pipefail
export REDLOCK_BOOST=newest  # Boost.Redis and Boost.MySQL of the examples need it.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=$root/build/release
program=$build/examples/chat_room/chat_load

if [[ ${1:-} == --help ]]; then
    cat <<'HELP'
usage: scripts/chat_load.sh [OPTION]...

Installs what is missing (Debian), builds the chat room, starts its servers and lets 200 members
talk in 50 rooms for a minute. Prints what became of their messages as JSON. Fails if one was lost
or doubled, or if the servers need more and more memory.

With --joiners 300, so many join one room at once, which has a history of 2000 messages of 2000
emoji each, while two talk in another room. Fails if these wait for more than 250 ms (p99), are told
that the store is down, or see a new coordinator. Takes one to two minutes.
HELP
    [[ ! -x $program ]] || exec "$program" --help
    exit 0
fi

setup chat >/dev/null

cd "$root"
cmake --preset release -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >&2
cmake --build "$build" --parallel "$(build_jobs)" --target chat_load >&2
exec "$program" "$@"
