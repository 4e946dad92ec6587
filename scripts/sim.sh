#!/usr/bin/env bash
# Builds the simulator and runs schedules of it. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/sim.sh [--schedules N] [--seed S] [--profile NAME] [--mutant NAME] [--trace]
                      [--jobs N] [--differential N]

Installs what is missing (Debian), builds the simulator of test/sim in build/sim and runs
schedules. Ends with an error if one of them broke a rule, and tells its seed.

  --schedules N     how many, 100000 by default; 1 with --trace
  --seed S          the first seed, 1 by default; the others follow
  --profile NAME    what may go wrong, `respecting` by default; test/README.md has the list
  --mutant NAME     of the library with this bug of test/mutants.toml: a copy of the tree in
                    build/mutant is changed and built. Ends with an error if no rule was broken
  --trace           tells what happens
  --jobs N          processes side by side, as many as there are processors by default
  --differential N  instead: compares the simulated server with a real one, N sequences of commands
USAGE
}

schedules=
seed=1
profile=respecting
mutant=
trace=
jobs=$(nproc)
sequences=
while (($#)); do
    case $1 in
    --schedules | --seed | --profile | --mutant | --jobs | --differential)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --schedules) schedules=$2 ;;
        --seed) seed=$2 ;;
        --profile) profile=$2 ;;
        --mutant) mutant=$2 ;;
        --jobs) jobs=$2 ;;
        --differential) sequences=$2 ;;
        esac
        shift
        ;;
    --trace) trace=--trace ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
if [[ -n $trace ]]; then
    schedules=${schedules:-1} jobs=1
fi
schedules=${schedules:-100000}
((jobs <= schedules)) || jobs=$schedules

# Copies the tree, and leaves alone what is the same already: then little has to be built.
copy_tree() {
    local to=$1 file
    mkdir -p "$to"
    while IFS= read -r -d '' file; do
        [[ -f $root/$file ]] || continue
        cmp -s "$root/$file" "$to/$file" && continue
        mkdir -p "$to/$(dirname "$file")"
        cp "$root/$file" "$to/$file"
    done < <(git -C "$root" ls-files -z --cached --others --exclude-standard)
}

build_program() {
    local from=$1 build=$2 target=$3
    cmake --preset release -S "$from" -B "$build" -DREDLOCK_BUILD_TESTS=ON \
        -DREDLOCK_BUILD_EXAMPLES=OFF -DREDLOCK_INTEGRATION_TESTS=ON \
        -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" \
        "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -g1" >/dev/null
    quietly cmake --build "$build" --parallel "$(build_jobs)" --target "$target"
}

# Runs a part of the schedules in each process. What they print is told one after the other.
run_schedules() {
    local program=$1 each=$((schedules / jobs)) first=$seed count part failed=0 parts=()
    for ((part = 0; part < jobs; ++part)); do
        count=$((part + 1 < jobs ? each : schedules - each * part))
        "$program" --schedules "$count" --seed "$first" --profile "$profile" $trace \
            >"$build/part.$part" &
        parts+=($!)
        first=$((first + count))
    done
    for part in "${!parts[@]}"; do
        wait "${parts[part]}" || failed=1
        cat "$build/part.$part"
    done
    return "$failed"
}

setup sim
cd "$root"
from=$root
build=$root/build/sim
if [[ -n $mutant ]]; then
    from=$root/build/mutant/tree
    build=$root/build/mutant/build
    copy_tree "$from"
    scripts/mutants.py plant "$mutant" "$from" >/dev/null
fi

if [[ -n $sequences ]]; then
    build_program "$from" "$build" redlock_sim_tests
    REDLOCK_SIM_SEQUENCES=$sequences \
        "$build/test/sim/redlock_sim_tests" --run_test=test_differential --log_level=message
    exit
fi

build_program "$from" "$build" redlock_sim
if [[ -z $mutant ]]; then
    run_schedules "$build/test/sim/redlock_sim"
elif run_schedules "$build/test/sim/redlock_sim"; then
    fail "$mutant has survived $schedules schedules"
else
    say "$mutant is killed"
fi
