#!/usr/bin/env bash
# Proves the packages on fresh Debians. A developer's tool, see --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/package_test.sh SUITE BASE

Takes three fresh copies of Debian (bookworm or trixie), as scripts/in_chroot.sh makes them of the
directory BASE:

  1. makes the .deb packages
  2. installs those and builds a program with them, by find_package and by pkg-config
  3. builds the same program with FetchContent, from a clone

Each program acquires a lease on three nodes. Takes several minutes, and needs root.
EOF
}

export DEBIAN_FRONTEND=noninteractive

# From here to `all` it runs on a fresh copy.
user=$root/test/package/user
nodes=redis://127.0.0.1:27001,redis://127.0.0.1:27002,redis://127.0.0.1:27003

start_nodes() {
    local port
    for port in 27001 27002 27003; do
        redis-server --bind 127.0.0.1 --port "$port" --save '' >/dev/null &
        timeout 10 bash -c "until : </dev/tcp/127.0.0.1/$port; do sleep 0.1; done" 2>/dev/null
    done
    trap 'kill $(jobs -p); wait' EXIT
}

# Shows a command and runs it.
shown() {
    printf '$ %s\n' "${*//$root\//}" >&2
    "$@"
}

# The Boost of the distribution is found by itself.
find_boost_of_user() {
    setup
    boost=()
    [[ $REDLOCK_BOOST_INCLUDE_DIR == /usr/include ]] || boost=("$REDLOCK_BOOST_INCLUDE_DIR")
}

installed() {
    mkdir /root/packages
    tar -x -C /root/packages
    quietly apt-get update
    cd /root
    shown apt-get install --yes --quiet=2 ./packages/*.deb g++ cmake pkg-config >/dev/null
    find_boost_of_user

    shown cmake -S "$user" -B /root/build "${boost[@]/#/-DREDLOCK_BOOST_INCLUDE_DIR=}"
    shown cmake --build /root/build
    # shellcheck disable=SC2046  # One word for each flag.
    shown g++ -std=c++20 "$user/main.cpp" -o /root/by_pkg_config \
        $(pkg-config --cflags --libs redlock) "${boost[@]/#/-I}"

    start_nodes
    REDLOCK_NODES=$nodes shown redlock init
    shown timeout 60 /root/build/my_program "$nodes"
    shown timeout 60 /root/by_pkg_config "$nodes"
}

built() {
    mkdir /root/sources
    tar -xz -C /root/sources --strip-components=1
    quietly apt-get update
    shown apt-get install --yes --quiet=2 g++ cmake libssl-dev libcli11-dev >/dev/null
    find_boost_of_user

    shown cmake -S /root/sources -B /root/redlock-build \
        "${boost[@]/#/-DREDLOCK_BOOST_INCLUDE_DIR=}" -DCMAKE_UNITY_BUILD=ON \
        -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_EXAMPLES=OFF
    shown cmake --build /root/redlock-build --parallel "$(build_jobs)"
    shown cmake --install /root/redlock-build >/dev/null
    shown cmake -S "$user" -B /root/build "${boost[@]/#/-DREDLOCK_BOOST_INCLUDE_DIR=}"
    shown cmake --build /root/build

    start_nodes
    REDLOCK_NODES=$nodes shown redlock init
    shown timeout 60 /root/build/my_program "$nodes"
}

fetched() {
    quietly apt-get update
    shown apt-get install --yes --quiet=2 g++ cmake libssl-dev libcli11-dev >/dev/null
    find_boost_of_user

    shown cmake -S "$user" -B /root/build "${boost[@]/#/-DREDLOCK_BOOST_INCLUDE_DIR=}" \
        -DFETCH_REDLOCK_FROM="$root" -DREDLOCK_COMMIT="$(git -C "$root" rev-parse HEAD)" \
        -DREDLOCK_BUILD_TOOL=ON -DCMAKE_UNITY_BUILD=ON
    shown cmake --build /root/build --parallel "$(build_jobs)"

    start_nodes
    REDLOCK_NODES=$nodes shown /root/build/_deps/redlock-build/src/tool/redlock init
    shown timeout 60 /root/build/my_program "$nodes"
}

all() {
    local suite=$1 base=$2 packages
    on_fresh() { "$root/scripts/in_chroot.sh" --build "$suite" "$base" "$@"; }
    packages=$(mktemp)
    # shellcheck disable=SC2064  # This file, not one that has the name later.
    trap "rm -f '$packages'" EXIT
    on_fresh bash -c 'scripts/package.sh >&2 && cd build/package && tar -c ./*.deb' >"$packages"
    on_fresh scripts/package_test.sh --installed <"$packages"
    on_fresh scripts/package_test.sh --fetched
}

case ${1:-} in
--installed) installed ;;
--built) built ;;
--fetched) fetched ;;
--help) usage ;;
*)
    (($# == 2)) || fail "needs a suite and a base, see --help"
    all "$@"
    ;;
esac
