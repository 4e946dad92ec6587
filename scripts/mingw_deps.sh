#!/usr/bin/env bash
# Makes this machine able to build redlock for Windows and to run what it builds: MinGW-w64, Wine,
# and OpenSSL, Lua and CLI11 for Windows, which are made once, from what Debian has, in .deps/mingw.
# Debian only. See scripts/ci.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

mingw=$deps/mingw
prefix=x86_64-w64-mingw32

# Unpacks a source package into .deps/source/NAME-*, and prints where that is.
unpack_source() {
    local name=$1 suite mirror apt=$deps/apt folder=$deps/source
    suite=$(os_field VERSION_CODENAME)
    mirror=$(debian_mirrors | head -n 1)
    [[ -n $mirror ]] || fail "this machine has no source of Debian packages"
    rm -rf "$apt" "$folder/$name"-*
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder"
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb-src [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
    local options=(
        -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none
        -o APT::Sandbox::User=root
    )
    quietly apt-get "${options[@]}" update
    (cd "$folder" && quietly apt-get "${options[@]}" source "$name")
    rm -rf "$apt"
    compgen -G "$folder/$name-*/" | head -n 1
}

build_openssl() {
    local source
    source=$(unpack_source openssl)
    say "building OpenSSL for Windows, which takes some minutes"
    (
        cd "$source"
        quietly ./Configure mingw64 --cross-compile-prefix="$prefix-" CC=gcc-posix \
            --prefix="$mingw" --libdir=lib no-shared no-tests no-engine no-dso no-module
        quietly make --jobs "$(build_jobs)" build_libs
        quietly make install_dev
    )
    rm -rf "$source"
}

build_lua() {
    local source
    source=$(unpack_source lua5.1)
    say "building Lua for Windows"
    (
        cd "$source/src"
        # Debian's Makefile wants libtool. These are the library, without its two programs.
        rm -f lua.c luac.c print.c
        "$prefix-gcc-posix" -O2 -c ./*.c
        mkdir -p "$mingw/include" "$mingw/lib"
        "$prefix-ar" rcs "$mingw/lib/liblua.a" ./*.o
        cp lua.h luaconf.h lualib.h lauxlib.h ../etc/lua.hpp "$mingw/include"
    )
    rm -rf "$source"
}

# Headers alone: those of the system serve, but not from beside the others in /usr/include.
copy_cli11() {
    mkdir -p "$mingw/include" "$mingw/share/cmake"
    cp -r /usr/include/CLI "$mingw/include"
    cp -r /usr/share/cmake/CLI11 "$mingw/share/cmake"
}

setup_mingw() {
    on_debian || fail "this is for Debian"
    local missing=()
    command -v "$prefix-g++-posix" >/dev/null || missing+=(g++-mingw-w64-x86-64-posix)
    [[ -x /usr/lib/wine/wine64 ]] || missing+=(wine64)
    has_program dpkg-source || missing+=(dpkg-dev)
    has_program perl || missing+=(perl)
    has_program make || missing+=(make)
    ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
    [[ -e $mingw/lib/liblua.a ]] || build_lua
    [[ -e $mingw/include/CLI ]] || copy_cli11
    [[ -e $mingw/lib/libssl.a ]] || build_openssl
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    setup
    setup_mingw
fi
