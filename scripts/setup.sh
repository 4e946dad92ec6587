#!/usr/bin/env bash
# Makes this machine able to build and test redlock. On Debian 12 and 13 it installs what is
# missing, elsewhere it says what is needed.
#
#   scripts/setup.sh [FEATURE...]      features: bench browser chat fuzz lint mariadb model
#                                      platforms sim site stock valkey
#
# Steps are told on stderr; a second run has none. The only line on stdout is the directory to hand
# to CMake as -DREDLOCK_BOOST_INCLUDE_DIR. Other scripts source this file and call `setup`.
#
# The Boost of the distribution is used where it is new enough, as in Debian 13. With
# REDLOCK_BOOST=newest in the environment it is not: some examples need a newer one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
boost_minimum=108300
if [[ ${REDLOCK_BOOST:-} == newest ]]; then
    boost_minimum=109100
fi
boost_package=libboost1.92-dev
# Debian's Boost 1.92 comes without Boost.MySQL. That of 1.88 goes with its other headers.
boost_mysql_package=libboost1.88-dev
boost_charconv_package=libboost-charconv1.92-dev

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
fail() { say "$*"; exit 1; }

# Runs a command and shows what it printed only if it fails.
quietly() {
    local output
    output=$("$@" 2>&1) || { printf '%s\n' "$output" >&2; return 1; }
}

os_field() { sed -nE "s/^$1=\"?([^\"]*)\"?$/\1/p" /etc/os-release 2>/dev/null || true; }
on_debian() { [[ $(os_field ID) == debian ]]; }

# Whether there is a program, also where only root looks for it.
has_program() { command -v "$1" >/dev/null || [[ -x /usr/sbin/$1 ]]; }

# The Python that has the packages of the distribution. Another one may come first.
site_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import markdown_it, pygments' 2>/dev/null; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

has_site_tools() { has_program doxygen && site_python >/dev/null; }

missing_packages() {
    local pair feature
    for pair in g++:g++ cmake:cmake ninja:ninja-build openssl:openssl pkg-config:pkg-config \
        python3:python3-minimal; do
        command -v "${pair%:*}" >/dev/null || echo "${pair#*:}"
    done
    have_server redis || echo redis-tools
    if on_debian; then
        [[ -e /usr/include/openssl/ssl.h ]] || echo libssl-dev
        [[ -e /usr/include/CLI/CLI.hpp ]] || echo libcli11-dev
    fi
    for feature; do
        case $feature in
        bench) has_program valgrind || echo valgrind ;;
        browser)
            has_program node || echo nodejs
            has_program npm || echo npm
            has_chromium || echo chromium
            ;;
        valkey)
            have_server valkey && continue
            if on_debian && [[ $(os_field VERSION_ID) == 12 ]]; then
                say "Debian 12 has no valkey, going on without it"
            else
                echo valkey-tools
            fi
            ;;
        mariadb)
            # The package excludes other servers of the kind: it must not push one out.
            if has_program mysqld && ! has_program mariadbd; then
                say "there is a mysqld, going on without a mariadbd beside it"
            elif ! has_program mariadbd; then
                echo mariadb-server-core
            fi
            ;;
        chat)
            if on_debian && [[ ! -e /usr/include/prometheus/registry.h ]]; then
                echo prometheus-cpp-dev
            fi
            ;;
        fuzz)
            command -v clang++ >/dev/null || echo clang
            command -v llvm-cov >/dev/null || echo llvm
            has_libfuzzer || echo libclang-rt-dev
            ;;
        lint)
            has_program clang-format-19 || echo clang-format-19
            has_program clang-tidy-19 || echo clang-tidy-19
            ;;
        model) command -v spin >/dev/null || echo spin ;;
        sim)
            if on_debian && [[ ! -e /usr/include/lua5.1/lua.h ]]; then
                echo liblua5.1-0-dev
            fi
            ;;
        platforms)
            has_program clang++-19 || echo clang-19
            # The package excludes that of another version: it must not push one out.
            compgen -G '/usr/lib/llvm-*/include/c++/v1/version' >/dev/null ||
                echo libc++-19-dev libc++abi-19-dev
            has_program x86_64-w64-mingw32-g++-posix || echo g++-mingw-w64-x86-64-posix
            ;;
        site)
            has_program doxygen || echo doxygen
            site_python >/dev/null || echo python3-markdown-it python3-pygments
            ;;
        stock) command -v wrk >/dev/null || echo wrk ;;
        *)
            fail "unknown feature '$feature'," \
                "there are: bench browser chat fuzz lint mariadb model" \
                "platforms sim site stock valkey"
            ;;
        esac
    done
}

install_packages() {
    local missing
    missing=$(missing_packages "$@" | xargs)
    [[ -n $missing ]] || return 0
    if ! on_debian; then
        say "not Debian: please install what its packages $missing hold"
        return 0
    fi
    # shellcheck disable=SC2086  # One word for each package.
    apt_install $missing
}

apt_install() {
    local as_root=(env DEBIAN_FRONTEND=noninteractive)
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "neither root nor sudo, please install: $*"
        as_root=(sudo "${as_root[@]}")
    fi
    say "installing $*"
    # A source that does not answer matters only if one of these packages is there.
    quietly "${as_root[@]}" apt-get update || say "going on with the package lists there are"
    # A fresh machine may still be busy with its first automatic upgrade: wait for its lock.
    quietly "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 \
        install --yes --no-install-recommends "$@"
}

# The Debian packages redis-server and valkey-server start a service, so they are not installed. The
# tools packages hold the same program: it decides by the name it is called by what it is. Nor is
# mariadb-server: mariadb-server-core is its program alone.
check_program() { echo "/usr/bin/$1-check-rdb"; }
have_server() { command -v "$1-server" >/dev/null || [[ -x $(check_program "$1") ]]; }

link_server() {
    if have_server "$1" && ! command -v "$1-server" >/dev/null; then
        say "linking .deps/bin/$1-server to $(check_program "$1")"
        mkdir -p "$deps/bin"
        ln -sf "$(check_program "$1")" "$deps/bin/$1-server"
    fi
}

link_mariadb() {
    if has_program mariadbd && ! command -v mariadbd >/dev/null; then
        say "linking .deps/bin/mariadbd to /usr/sbin/mariadbd"
        mkdir -p "$deps/bin"
        ln -sf /usr/sbin/mariadbd "$deps/bin/mariadbd"
    fi
}

has_libfuzzer() {
    [[ -n $(compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a') ]]
}

has_chromium() {
    has_program chromium || has_program chromium-browser || has_program google-chrome
}

# Puts the driver of the browser, and what checks pages, beside the tests that use them. Without
# them these are skipped.
fetch_playwright() {
    local folder=$root/test/browser
    local installed=$folder/node_modules/.package-lock.json
    [[ ! -e $installed || $folder/package-lock.json -nt $installed ]] || return 0
    if ! has_program npm; then
        say "no npm, going on without the tests in a browser"
        return 0
    fi
    say "installing playwright-core and axe-core into test/browser/node_modules"
    (cd "$folder" && quietly npm ci --ignore-scripts --no-audit --no-fund) ||
        say "no playwright-core to be had, going on without the tests in a browser"
}

has_boost() {
    local version
    version=$(sed -nE 's/^#define BOOST_VERSION ([0-9]+).*/\1/p' "$1/boost/version.hpp" 2>&1) ||
        return 1
    ((version >= boost_minimum))
}

# The minimum as people write it.
boost_name() { echo "$((boost_minimum / 100000)).$((boost_minimum / 100 % 1000))"; }

# Sets REDLOCK_BOOST_INCLUDE_DIR.
find_boost() {
    local prefix dir prefixes=${BOOST_ROOT:-}:${CMAKE_PREFIX_PATH:-}:/usr/local:/usr:$deps/boost/usr
    IFS=: read -r -a prefixes <<<"$prefixes"
    for prefix in "${prefixes[@]}"; do
        for dir in "$prefix/include" "$prefix"; do
            if [[ -n $prefix ]] && has_boost "$dir"; then
                REDLOCK_BOOST_INCLUDE_DIR=$(cd "$dir" && pwd)
                return 0
            fi
        done
        # The one who set it wants to know why another one is taken.
        [[ -z $prefix || $prefix != "${BOOST_ROOT:-}" ]] ||
            say "no Boost >= $(boost_name) in $BOOST_ROOT"
    done
    return 1
}

# Addresses of the main archive, as apt understands the sources of this machine. A foreign archive
# may name its suites like Debian: the caller has to be ready for a failure with any of them.
debian_mirrors() {
    # shellcheck disable=SC2016  # apt expands these, not the shell.
    apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
        'Created-By: Packages' |
        sed -nE "s/^($(os_field VERSION_CODENAME)|(old)?stable|testing) main //p" | uniq
}

# Downloads a package into .deps/apt, without a trace in the package lists of the machine.
download_package() {
    local package=$1 mirror=$2 suite=$3 apt=$deps/apt
    local options=(
        -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none
        # Root would download as the user _apt, who may not look into this directory.
        -o APT::Sandbox::User=root
    )
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
    apt-get "${options[@]}" update && cd "$apt" && apt-get "${options[@]}" download "$package"
}

# Unpacks a package of the first of some suites that has it into .deps/FOLDER.
unpack_package() {
    local package=$1 folder=$2 mirror suite output=
    shift 2
    for mirror in $(debian_mirrors); do
        for suite; do
            output+=$(download_package "$package" "$mirror" "$suite" 2>&1) || continue
            say "unpacking $package of $suite into .deps/$folder"
            rm -rf "${deps:?}/$folder" "$deps/$folder.part"
            dpkg -x "$deps/apt/$package"_*.deb "$deps/$folder.part" || return 1
            mv "$deps/$folder.part" "$deps/$folder" || return 1
            rm -rf "$deps/apt"
            return 0
        done
    done
    printf '%s\n' "$output" >&2
    return 1
}

backports() { printf '%s\n' "$(os_field VERSION_CODENAME)-backports" trixie-backports | uniq; }

# Whether the distribution has a Boost that is new enough.
has_boost_package() {
    local version
    version=$(apt-cache policy libboost-dev | sed -nE 's/^ *Candidate: ([0-9]+\.[0-9]+).*/\1/p')
    [[ -n $version ]] && dpkg --compare-versions "$version" ge "$(boost_name)"
}

fetch_boost() {
    on_debian ||
        fail "Boost >= $(boost_name) is needed: take it from vcpkg or Conan, or set BOOST_ROOT"
    if has_boost_package; then
        apt_install libboost-dev
        return 0
    fi
    # shellcheck disable=SC2046  # One word for each suite.
    unpack_package "$boost_package" boost $(backports) ||
        fail "no $boost_package to be had: set BOOST_ROOT to a Boost >= $(boost_name)"
}

# Adds Boost.MySQL, and Boost.Charconv that it needs, to a Boost of ours. One example and its test
# use it; without it they are left out.
fetch_boost_mysql() {
    local ours=$deps/boost/usr
    [[ ! -e $REDLOCK_BOOST_INCLUDE_DIR/boost/mysql.hpp ]] || return 0
    if [[ ! $REDLOCK_BOOST_INCLUDE_DIR -ef $ours/include ]] || ! on_debian; then
        say "no Boost.MySQL in $REDLOCK_BOOST_INCLUDE_DIR, going on without the MariaDB recipe"
        return 0
    fi
    # shellcheck disable=SC2046  # One word for each suite.
    if unpack_package "$boost_charconv_package" charconv $(backports) &&
        unpack_package "$boost_mysql_package" mysql trixie; then
        cp "$deps"/charconv/usr/lib/*/libboost_charconv.a "$ours/lib"
        cp -r "$deps/mysql/usr/include/boost/mysql" "$ours/include/boost"
        cp "$deps/mysql/usr/include/boost/mysql.hpp" "$ours/include/boost"  # Last: all is there.
    else
        say "no Boost.MySQL to be had, going on without the MariaDB recipe"
    fi
    rm -rf "$deps/charconv" "$deps/mysql"
}

setup() {
    export PATH=$deps/bin:$PATH REDLOCK_BOOST_INCLUDE_DIR
    install_packages "$@"
    link_server redis
    link_server valkey
    link_mariadb
    if ! find_boost; then
        fetch_boost
        find_boost || fail "there is no Boost >= $(boost_name) after all"
    fi
    if [[ " $* " == *" mariadb "* ]]; then
        fetch_boost_mysql
    fi
    if [[ " $* " == *" browser "* ]]; then
        fetch_playwright
    fi
}

# Compiling coroutines on Boost.Asio takes much memory: with little of it, more jobs only swap.
build_jobs() {
    local available
    available=$(sed -nE 's/^MemAvailable: *([0-9]+) kB/\1/p' /proc/meminfo 2>/dev/null || true)
    local processors
    processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)  # The latter on Windows.
    if [[ -n $available ]] && ((available < 8 * 1024 * 1024 && processors > 2)); then
        processors=2
    fi
    echo "$processors"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    setup "$@"
    echo "$REDLOCK_BOOST_INCLUDE_DIR"
fi
