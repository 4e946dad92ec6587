#!/usr/bin/env bash
# Builds redlock and runs its tests. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

known_labels=(unit thread integration tool examples chat chaos sim browser fuzz model mutants
    standalone package tidy site bench)

usage() {
    cat <<EOF
usage: scripts/test.sh [--all] [--asan | --tsan] [--label NAME]... [--without NAME]...
                       [--compiler CXX]

Installs what is missing (Debian), builds redlock with warnings as errors and runs the tests that
decide whether a change is right.

  --all            also the tests that search longer, or on more systems: hours of them
  --asan           with the address and undefined behaviour sanitizers, in build/asan
  --tsan           with the thread sanitizer, in build/tsan
  --label NAME     only tests with this label, and only what they need is built:
                   ${known_labels[*]}
  --without NAME   no tests with this label
  --compiler CXX   with this compiler, in a build directory of its own
EOF
}

preset=ci
compiler=
all=
labels=
excluded=
while (($#)); do
    case $1 in
    --all) all=yes ;;
    --asan | --tsan)
        [[ $preset == ci || $preset == "${1#--}" ]] || fail "--asan and --tsan exclude each other"
        preset=${1#--}
        ;;
    --label | --without | --compiler)
        (($# >= 2)) || fail "$1 needs a value"
        [[ $1 == --compiler || " ${known_labels[*]} " == *" $2 "* ]] ||
            fail "there is no label '$2', see --help"
        case $1 in
        --label) labels+="${labels:+|}$2" ;;
        --without) excluded+="${excluded:+|}$2" ;;
        --compiler) compiler=$2 ;;
        esac
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

# Whether tests with a label run.
with() { [[ "|${labels:-$1}|" == *"|$1|"* && "|$excluded|" != *"|$1|"* ]]; }

# A browser and other compilers are much to install for those who leave their tests out.
features=(bench chat lint mariadb model sim site stock valkey)
if [[ -n $all ]] && with browser; then features+=(browser); fi
if [[ -n $all ]] && with standalone; then features+=(platforms); fi
setup "${features[@]}"
[[ -z $compiler ]] || command -v "$compiler" >/dev/null || fail "there is no compiler '$compiler'"

build=$root/build/${preset/#ci/test}${compiler:+-${compiler##*/}}
cd "$root"
cmake --preset "$preset" -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" \
    ${compiler:+-DCMAKE_CXX_COMPILER="$compiler"}
targets=()
for label in "${known_labels[@]}"; do
    if with "$label"; then targets+=("tests.$label" ${all:+"tests.$label.long"}); fi
done
began=$SECONDS
cmake --build "$build" --parallel "$(build_jobs)" --target "${targets[@]}"
say "built in $((SECONDS - began)) s"

# What the environment says comes last and wins.
export ASAN_OPTIONS=strict_string_checks=1:check_initialization_order=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
export TSAN_OPTIONS=second_deadlock_stack=1:suppressions=$root/test/tsan.supp:${TSAN_OPTIONS:-}

# The thread sanitizer of GCC 12 does not start where the kernel randomises 32 bits of an address.
run=()
if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
    run=(setarch -R)
fi
# Two slots are a processor: a test that computes takes both, one that waits takes one. Those that
# measure time are marked serial.
[[ -n $all ]] || excluded+="${excluded:+|}long"
status=0
began=$SECONDS
"${run[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 600 \
    --parallel "$((2 * $(build_jobs)))" \
    ${labels:+--label-regex "^($labels)\$"} ${excluded:+--label-exclude "^($excluded)\$"} ||
    status=$?
say "tested in $((SECONDS - began)) s"

[[ -e $build/Testing/Temporary/LastTest.log ]] || exit "$status"
log=$build/Testing/Temporary/LastTest.log
skipped=$(sed -nE 's/^([a-z]+\.sh: )?SKIPPED: //p' "$log" | sort -u)
if [[ -n $skipped ]]; then
    say "of these tests some were skipped:"
    printf '%s\n' "$skipped" >&2
else
    say "of these tests none was skipped"
fi
exit "$status"
