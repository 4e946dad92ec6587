#!/usr/bin/env bash
# Searches with libFuzzer for inputs that break the library. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/fuzz.sh [--seconds N] [--target NAME]... [--compiler CXX]

Builds the targets of test/fuzz with Clang, libFuzzer and the address and undefined behaviour
sanitizers, runs each over its corpus and on from there, and tells how much of the code it reached.
An input that breaks something is kept in build/fuzz and ends the script with an error.

  --seconds N      for each target, 60 by default
  --target NAME    only this one: commands, options, reader, urls
  --compiler CXX   a Clang, clang++ by default
USAGE
}

seconds=60
targets=()
compiler=clang++
while (($#)); do
    case $1 in
    --seconds | --target | --compiler)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --seconds) seconds=$2 ;;
        --target) targets+=("$2") ;;
        --compiler) compiler=$2 ;;
        esac
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
((${#targets[@]})) || targets=(commands options reader urls)
for target in "${targets[@]}"; do
    [[ -d $root/test/fuzz/corpus/$target ]] || fail "there is no target '$target', see --help"
done

# The files that a target is about. It reaches others on the way.
subjects_of() {
    case $1 in
    commands) echo src/node/pipeline.cpp src/node/vetting/vetting.cpp ;;
    options) echo src/client/validate.cpp src/core/limits.hpp ;;
    reader) echo src/wire/resp_reader.cpp src/wire/resp.cpp ;;
    urls) echo src/config.cpp ;;
    esac
}

# Tells how much of the code the corpus and what was found reach.
report_coverage() {
    local target=$1 program=$2 tools subject
    local summary='
import json, sys
totals = json.load(sys.stdin)["data"][0]["totals"]
of = lambda kind: "{covered} of {count} {0}".format(kind, **totals[kind])
print(f"  {sys.argv[1]}:", ", ".join(map(of, ("lines", "regions", "branches"))))'
    tools=$(dirname "$("$compiler" -print-prog-name=llvm-cov)")
    LLVM_PROFILE_FILE=$build/$target.profraw "$program" -runs=0 \
        "$build/found/$target" "test/fuzz/corpus/$target" >"$build/$target.log" 2>&1
    "$tools/llvm-profdata" merge -sparse "$build/$target.profraw" -o "$build/$target.profdata"
    for subject in $(subjects_of "$target"); do
        "$tools/llvm-cov" export -summary-only -instr-profile "$build/$target.profdata" \
            "$program" "$root/$subject" | python3 -c "$summary" "$subject"
    done
}

# Runs a target and tells what came of it. Its own words are many, and of use only if it broke.
fuzz() {
    local target=$1 program=$build/test/fuzz/redlock_fuzz_$1
    mkdir -p "$build/found/$target"
    say "$target for $seconds s"
    if ! LLVM_PROFILE_FILE=$build/$target.profraw "$program" \
        -max_total_time="$seconds" -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$build/$target-" "$build/found/$target" "test/fuzz/corpus/$target" \
        >"$build/$target.log" 2>&1; then
        tail -n 60 "$build/$target.log" >&2
        fail "$target broke, see $build/$target.log"
    fi
    local runs units
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
    units=$(sed -n 's/^stat::new_units_added: *//p' "$build/$target.log")
    echo "$target: $runs inputs, $units of them reached something new, nothing broke"
    report_coverage "$target" "$program"
}

setup fuzz
command -v "$compiler" >/dev/null || fail "there is no compiler '$compiler'"

build=$root/build/fuzz
cd "$root"
cmake --preset fuzz -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" \
    -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$build" --parallel "$(build_jobs)" --target "${targets[@]/#/redlock_fuzz_}"

export ASAN_OPTIONS=strict_string_checks=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
for target in "${targets[@]}"; do
    fuzz "$target"
done
