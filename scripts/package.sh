#!/usr/bin/env bash
# Makes .deb packages of the library, its headers and its tools. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/package.sh [--output DIR]

Installs what is missing (Debian), builds the shared library and makes three packages for this
release of Debian:

  libredlock0.2    the shared library
  libredlock-dev   headers, find_package, pkg-config, redlock::testing
  redlock          the program redlock

  --output DIR     where they go, build/package by default
EOF
}

build=$root/build/package
output=$build
while (($#)); do
    case $1 in
    --output)
        (($# >= 2)) || fail "$1 needs a value"
        output=$(realpath -m "$2")
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

on_debian || fail "makes packages of Debian, on Debian"
setup
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null || apt_install dpkg-dev file

cd "$root"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_INSTALL_PREFIX=/usr \
    -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_EXAMPLES=OFF \
    -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
cmake --build "$build" --parallel "$(build_jobs)"
mkdir -p "$output"
rm -f "$output"/*.deb
(cd "$build" && cpack -G DEB -B "$output")
rm -rf "$output/_CPack_Packages"
ls -l "$output"/*.deb
