#!/usr/bin/env bash
# Formats the code and looks for bugs with clang-tidy. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOT'
usage: scripts/lint.sh [--fix] [--only format|bugs] [--build DIR] [FILE...]

Checks that clang-format would change nothing, and runs clang-tidy over the library. Both are of
version 19, because versions differ in what they say. Installs what is missing (Debian).

  --fix        formats the files
  --only WHAT  only the format, or only the bugs
  --build DIR  a folder that CMake has configured, build/lint by default; installs nothing
  FILE...      instead of all files: of src for the bugs, C++ files for the format
EOT
}

fix=
only=
build=
files=()
while (($#)); do
    case $1 in
    --fix) fix=1 ;;
    --only | --build)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --only) only=$2 ;;
        --build) build=$2 ;;
        esac
        shift
        ;;
    --help) usage; exit 0 ;;
    -*) fail "unknown option '$1', see --help" ;;
    *) files+=("$1") ;;
    esac
    shift
done
[[ $only =~ ^(format|bugs|)$ ]] || fail "--only takes 'format' or 'bugs', not '$only'"

if [[ -z $build ]]; then
    setup lint
elif ! has_program clang-format-19 || ! has_program clang-tidy-19; then
    say "SKIPPED: needs what scripts/setup.sh lint installs"
    exit 0
fi
cd "$root"

check_format() {
    local cpp=("${files[@]}") how=(--dry-run --Werror)
    if ((${#cpp[@]} == 0)); then
        mapfile -t cpp < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')
    fi
    [[ -z $fix ]] || how=(-i)
    printf '%s\0' "${cpp[@]}" | xargs -0 -n 40 -P "$(nproc)" clang-format-19 "${how[@]}"
}

look_for_bugs() {
    local cpp=("${files[@]}")
    if [[ -z $build ]]; then
        build=$root/build/lint
        cmake --preset release -B "$build" -DREDLOCK_BUILD_EXAMPLES=OFF \
            -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >/dev/null
    fi
    ((${#cpp[@]})) || mapfile -t cpp < <(git ls-files 'src/*.cpp')
    # GCC's warnings mean nothing to Clang.
    printf '%s\0' "${cpp[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 -p "$build" --quiet \
        --extra-arg=-Wno-unknown-warning-option
}

[[ $only == bugs ]] || check_format
[[ $only == format ]] || look_for_bugs
