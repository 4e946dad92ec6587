#!/usr/bin/env bash
# Runs one job of .github/workflows/test.yml. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/ci.sh JOB

Installs what the job needs, and runs it. "Suites" are the unit tests, the tests with threads and
1,000 schedules of the simulator.

  on Debian 12
    gcc-12          the tests that decide whether a change is right
    all             also those that search longer, each night
    browser         the tests in a browser
    asan, tsan      unit, thread and, with asan, integration tests under a sanitizer
    lint            clang-format and clang-tidy
    clang-14        suites
    no-tls          suites, without OpenSSL
    mingw           suites, programs and a DLL for Windows, run by Wine
  on Debian 13
    gcc-13          suites
    gcc-14          as gcc-12, with Debian's own Boost
    newest-boost    as gcc-12, with the newest Boost
    clang-19        unit, thread and integration tests
    libc++          suites, with the standard library of Clang 19
  on the next Debian
    gcc-15          suites
    clang-20        suites
  elsewhere
    macos           suites, with what Homebrew has
    windows-static  suites, with MSVC and what vcpkg has
    windows-shared  a program and its unit test with a DLL, with MSVC and what vcpkg has

scripts/in_chroot.sh runs the jobs of Debian 12 and 13 on a machine of its own.
EOF
}

# What every build of suites has in common. MSVC understands all of it.
suite_options=(
    -DREDLOCK_BUILD_TESTS=ON -DREDLOCK_BUILD_EXAMPLES=OFF -DREDLOCK_BUILD_TOOL=OFF
    -DREDLOCK_INTEGRATION_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
)

# Tests that a system leaves out.
left_out=

# Builds and runs the suites: suites BUILD [OPTION OF CMAKE]...
suites() {
    local build=$root/build/$1
    shift
    cmake -S "$root" -B "$build" "${suite_options[@]}" "$@"
    cmake --build "$build" --config Release --parallel "$(build_jobs)"
    ctest --test-dir "$build" --build-config Release --output-on-failure --no-tests=error \
        --timeout 600 --parallel "$(build_jobs)" \
        --label-regex '^(unit|thread|sim)$' --label-exclude '^schedules$' \
        ${left_out:+--exclude-regex "$left_out"}
    schedules "$build"
}

# What 1,000 schedules of the simulator do, on every system. A change of the protocol changes it.
schedules_hash=f27467967e021bf1

schedules() {
    local program output
    for program in "$1"/test/sim/{,Release/}redlock_sim{,.exe}; do
        [[ -f $program ]] || continue
        output=$(run_program "$program" --schedules 1000 --seed 1)
        echo "$output"
        [[ $output == *"hash $schedules_hash,"* ]] ||
            fail "the schedules differ from those of other systems: not $schedules_hash"
        return
    done
    fail "there is no simulator in $1"
}

# Where programs for Windows are cross-built, Wine runs them.
run_program() {
    if [[ $1 == *.exe && -x /usr/lib/wine/wine64 ]]; then
        /usr/lib/wine/wine64 "$@"
    else
        "$@"
    fi
}

# Runs a program that has to print something. Under Wine one that crashes ends with 0.
expect() {
    local words=$1 output
    shift
    output=$(run_program "$@")
    echo "$output"
    [[ $output == *"$words"* ]] || fail "$1 did not print '$words'"
}

# suites_on_debian BUILD PACKAGES [OPTION OF CMAKE]...
suites_on_debian() {
    local build=$1 packages=$2
    shift 2
    # shellcheck disable=SC2086  # One word for each package.
    [[ -z $packages ]] || apt_install $packages
    setup sim
    suites "$build" -G Ninja -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" \
        -DREDLOCK_WERROR=ON "$@"
}

mingw() {
    local mingw=$root/.deps/mingw build=$root/build/mingw-shared nodes="" port
    "$root/scripts/mingw_deps.sh"
    setup sim
    local options=(
        -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw.cmake" -DREDLOCK_WERROR=ON
        -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" -DOPENSSL_ROOT_DIR="$mingw"
        -DLUA_INCLUDE_DIR="$mingw/include" -DLUA_LIBRARY="$mingw/lib/liblua.a"
    )
    export WINEDEBUG=-all
    # Wine's services would keep open the output of the test that starts them.
    /usr/lib/wine/wineserver64 --persistent
    trap '/usr/lib/wine/wineserver64 --kill; kill $(jobs -p)' EXIT
    /usr/lib/wine/wine64 wineboot >/dev/null 2>&1
    # It looks at the queue of completions millions of times, and Wine takes 80 us for each.
    left_out=with_lock_interrupted
    suites mingw "${options[@]}"

    # Programs as users build them, with a DLL. They share the library of the compiler with it.
    cmake -S "$root" -B "$build" "${options[@]}" -DCMAKE_EXE_LINKER_FLAGS_INIT= \
        -DBUILD_SHARED_LIBS=ON -DREDLOCK_BUILD_TESTS=OFF
    cmake --build "$build" --parallel "$(build_jobs)" --target redlock_tutorial redlock_unit_test
    local compiler
    compiler=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-file-name=libstdc++-6.dll)")
    export WINEPATH="$build;$compiler;/usr/x86_64-w64-mingw32/lib"
    expect "ok: it stops when its process has stood still" "$build/examples/redlock_unit_test.exe"

    for port in 7931 7932 7933; do
        redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no >/dev/null &
        nodes+=${nodes:+,}redis://127.0.0.1:$port
    done
    # The first run starts the quarantine of the nodes, which takes 30 s.
    SECONDS=0
    until run_program "$build/examples/tutorial/1_first_lock.exe" "$nodes" || ((SECONDS > 60)); do
        sleep 5
    done
    expect "is ours for" "$build/examples/tutorial/1_first_lock.exe" "$nodes"
}

# Homebrew has no Lua 5.1, and LuaJIT speaks that version.
macos() {
    brew install boost cli11 luajit ninja openssl@3
    local luajit
    luajit=$(brew --prefix luajit)
    suites macos -G Ninja -DREDLOCK_BUILD_TOOL=ON \
        -DREDLOCK_BOOST_INCLUDE_DIR="$(brew --prefix boost)/include" \
        -DOPENSSL_ROOT_DIR="$(brew --prefix openssl@3)" \
        -DLUA_INCLUDE_DIR="$luajit/include/luajit-2.1" \
        -DLUA_LIBRARY="$luajit/lib/libluajit-5.1.dylib"
}

# What there is on a runner of GitHub. Visual Studio is a generator that finds itself.
windows_packages() {
    local vcpkg=${VCPKG_INSTALLATION_ROOT:?is not set: where is vcpkg?}
    "$vcpkg/vcpkg" install --triplet x64-windows boost-algorithm boost-asio boost-intrusive \
        boost-multi-index boost-test boost-uuid cli11 luajit openssl
    windows_options=(
        -A x64 -DCMAKE_TOOLCHAIN_FILE="$vcpkg/scripts/buildsystems/vcpkg.cmake"
        -DREDLOCK_BOOST_INCLUDE_DIR="$vcpkg/installed/x64-windows/include"
        -DLUA_INCLUDE_DIR="$vcpkg/installed/x64-windows/include/luajit"
        -DLUA_LIBRARY="$vcpkg/installed/x64-windows/lib/lua51.lib"
    )
}

windows_shared() {
    windows_packages
    local build=$root/build/windows-shared
    cmake -S "$root" -B "$build" "${windows_options[@]}" -DBUILD_SHARED_LIBS=ON \
        -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_TOOL=OFF
    cmake --build "$build" --config Release --parallel "$(build_jobs)" \
        --target redlock_tutorial redlock_unit_test
    PATH=$build/Release:$PATH "$build/examples/Release/redlock_unit_test.exe"
}

(($# == 1)) || { usage >&2; exit 2; }
case $1 in
gcc-12 | gcc-14) exec "$root/scripts/test.sh" ;;
newest-boost) REDLOCK_BOOST=newest exec "$root/scripts/test.sh" ;;
all)
    apt_install debootstrap
    REDLOCK_BOOST=newest exec "$root/scripts/test.sh" --all
    ;;
browser) exec "$root/scripts/test.sh" --all --label browser ;;
asan) exec "$root/scripts/test.sh" --asan --label unit --label thread --label integration ;;
tsan) exec "$root/scripts/test.sh" --tsan --label unit --label thread ;;
lint) exec "$root/scripts/lint.sh" ;;
clang-19)
    apt_install clang-19
    exec "$root/scripts/test.sh" --compiler clang++-19 \
        --label unit --label thread --label integration
    ;;
gcc-*) suites_on_debian "$1" "g++-${1#gcc-}" -DCMAKE_CXX_COMPILER="g++-${1#gcc-}" ;;
clang-*) suites_on_debian "$1" "$1" -DCMAKE_CXX_COMPILER="clang++-${1#clang-}" ;;
libc++)
    suites_on_debian libc++ "clang-19 libc++-19-dev libc++abi-19-dev" \
        -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_FLAGS=-stdlib=libc++
    ;;
no-tls)
    suites_on_debian no-tls "" -DREDLOCK_TLS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
    ;;
mingw) mingw ;;
macos) macos ;;
windows-static)
    windows_packages
    suites windows-static "${windows_options[@]}"
    ;;
windows-shared) windows_shared ;;
--help) usage ;;
*) fail "unknown job '$1', see --help" ;;
esac
