#!/usr/bin/env bash
# Builds redlock and runs its tests. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/test.sh [--asan | --tsan] [--label NAME]... [--without NAME]... [--compiler CXX]

Installs what is missing (Debian), builds redlock with warnings as errors and runs its tests.

  --asan           with the address and undefined behaviour sanitizers, in build/asan
  --tsan           with the thread sanitizer, in build/tsan
  --label NAME     only tests with this label: unit, thread, integration, chat, examples,
                   chaos, sim, browser, fuzz, model, standalone, package, tidy, site, bench
  --without NAME   no tests with this label
  --compiler CXX   with this compiler, in a build directory of its own
EOF
}

preset=ci
compiler=
labels=
excluded=
while (($#)); do
    case $1 in
    --asan | --tsan)
        [[ $preset == ci || $preset == "${1#--}" ]] || fail "--asan and --tsan exclude each other"
        preset=${1#--}
        ;;
    --label | --without | --compiler)
        (($# >= 2)) || fail "$1 needs a value"
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
features=(chat lint mariadb model sim site stock valkey)
if with browser; then features+=(browser); fi
if with standalone; then features+=(platforms); fi
setup "${features[@]}"
[[ -z $compiler ]] || command -v "$compiler" >/dev/null || fail "there is no compiler '$compiler'"

build=$root/build/${preset/#ci/test}${compiler:+-${compiler##*/}}
cd "$root"
# Several files of the library at once compile in a quarter of the time.
cmake --preset "$preset" -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    ${compiler:+-DCMAKE_CXX_COMPILER="$compiler"}
cmake --build "$build" --parallel "$(build_jobs)"

# What the environment says comes last and wins.
export ASAN_OPTIONS=strict_string_checks=1:check_initialization_order=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
export TSAN_OPTIONS=second_deadlock_stack=1:suppressions=$root/test/tsan.supp:${TSAN_OPTIONS:-}

# The thread sanitizer of GCC 12 does not start where the kernel randomises 32 bits of an address.
run=()
if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
    run=(setarch -R)
fi
# Side by side run only those that need no servers: the others measure times, and are marked serial.
status=0
"${run[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 600 \
    --parallel "$(build_jobs)" \
    ${labels:+--label-regex "^($labels)\$"} ${excluded:+--label-exclude "^($excluded)\$"} ||
    status=$?

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
