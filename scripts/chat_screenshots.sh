#!/usr/bin/env bash
# Makes the pictures of examples/chat_room/README.md. See --help.
set -euo pipefail
export REDLOCK_BOOST=newest  # Boost.Redis and Boost.MySQL of the examples need it.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=$root/build/release
pictures=${1:-$root/examples/chat_room/images}

if [[ ${1:-} == --help ]]; then
    cat <<'EOT'
usage: scripts/chat_screenshots.sh [FOLDER] [--show]

Installs what is missing (Debian), builds the chat server, lets three members talk while
coordinators are killed, and writes pictures of their browsers into the folder,
examples/chat_room/images by default. With --show, it breaks things in `chat_demo --serve` instead,
and writes pictures of what people see then, at 1280 and 390 pixels. Everything that it starts it
also ends.
EOT
    exit 0
fi

setup browser

cd "$root"
cmake --preset release -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
cmake --build "$build" --parallel "$(build_jobs)" --target chat_server chat_demo redlock_tool
mkdir -p "$pictures"
if [[ ${2:-} == --show ]]; then
    REDLOCK_CHAT_DEMO=$build/examples/chat_room/chat_demo \
        node test/browser/show_screenshots.js "$pictures"
    exit 0
fi
REDLOCK_CHAT_SERVER=$build/examples/chat_room/chat_server \
    REDLOCK_TOOL=$build/src/tool/redlock \
    node test/browser/screenshots.js "$pictures"
ls -l "$pictures"
