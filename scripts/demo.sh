#!/usr/bin/env bash
# Builds the demo and runs it. See --help.
set -euo pipefail
export REDLOCK_BOOST=newest  # Boost.Redis and Boost.MySQL of the examples need it.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=$root/build/demo
locks=$build/examples/demo/redlock_demo
chat=$build/examples/chat_room/chat_demo

usage() {
    cat <<'HELP'
usage: scripts/demo.sh [--locks | --chat | --serve]

Installs what is missing (Debian), builds the demo and runs it: first what the lock does, then what
a chat makes of it. The demo starts Redis servers of its own and stops them at its end. To build it
takes minutes; later runs start at once.

  --locks   only the first act
  --chat    only the second act
  --serve   the chat for your browser, with buttons to break things, until Ctrl-C
HELP
}

case ${1:-} in
'' | --locks | --chat | --serve) (($# <= 1)) || { usage >&2; exit 2; } ;;
--help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

setup chat

cd "$root"
# Later runs leave it to the build to look whether it has to be configured again.
[[ -e $build/build.ninja ]] ||
    cmake --preset demo -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
targets=(redlock_demo)
if [[ $(cmake --build "$build" --target help) == *chat_demo* ]]; then
    targets+=(chat_demo)
elif [[ ${1:-} == --chat || ${1:-} == --serve ]]; then
    fail "the chat needs CLI11, prometheus-cpp and Boost >= 1.91"
fi
cmake --build "$build" --parallel "$(build_jobs)" --target "${targets[@]}"

case ${1:-} in
--locks) exec "$locks" ;;
--chat) exec "$chat" ;;
--serve) exec "$chat" --serve ;;
esac
"$locks"
if [[ " ${targets[*]} " == *" chat_demo "* ]]; then
    exec "$chat"
fi
say "without the chat, which needs CLI11, prometheus-cpp and Boost >= 1.91"
