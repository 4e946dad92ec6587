#!/usr/bin/env bash
# Measures how long users' files compile. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/compile_time.sh [COMPILER]...

Compares the time to compile a file that includes <redlock.hpp> with that of one that includes what
any user of Asio coroutines includes anyway. Prints one JSON object for each compiler, c++ if none
is named. Installs what is missing (Debian).
EOF
}

case ${1:-} in
--help) usage; exit 0 ;;
-*) fail "unknown option '$1', see --help" ;;
esac
setup
for compiler in "${@:-c++}"; do
    command -v "$compiler" >/dev/null || fail "there is no compiler '$compiler'"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/asio.cpp" <<'EOF'
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
int main() {}
EOF
printf '#include <redlock.hpp>\nint main() {}\n' >"$folder/redlock.cpp"

# The median of nine compilations, in milliseconds. The two files alternate.
measure() {
    local compiler=$1 file started
    for _ in 1 2 3 4 5 6 7 8 9; do
        for file in asio redlock; do
            started=$(date +%s%N)
            "$compiler" -std=c++20 -isystem "$REDLOCK_BOOST_INCLUDE_DIR" -I "$root/include" \
                -c "$folder/$file.cpp" -o /dev/null
            echo $((($(date +%s%N) - started) / 1000000)) >>"$folder/$file.ms"
        done
    done
    local asio redlock
    asio=$(sort -n "$folder/asio.ms" | sed -n 5p)
    redlock=$(sort -n "$folder/redlock.ms" | sed -n 5p)
    rm "$folder"/*.ms
    printf '{"bench":"compile_time","compiler":"%s","asio_ms":%d,"redlock_ms":%d,"ratio":%s}\n' \
        "$compiler" "$asio" "$redlock" "$(awk "BEGIN { printf \"%.2f\", $redlock / $asio }")"
}

for compiler in "${@:-c++}"; do
    measure "$compiler"
done
