#!/usr/bin/env bash
# Searches the models of test/model with spin, whole. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/model.sh [--quick] [--variant NAME [--trace]] [--jobs N] [--list]

Searches every run of the models in test/model, as they are and with rules left out, and prints a
table. Fails if a run does not end as test/model/runs says. Base models have to be searched whole,
and each weakened variant has to break what it is expected to break.

  --quick          for each model and property a run of a second or two, as in the tests
  --variant NAME   only this run
  --trace          prints the events that lead to what broke
  --jobs N         runs side by side, each with up to 3 GB; 1 with less than 8 GB, else up to 2
  --list           prints the names
USAGE
}

models=$root/test/model
build=$root/build/model
only=
quick=
optimization=-O2
trace=
jobs=
while (($#)); do
    case $1 in
    --variant | --jobs)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --variant) only=$2 ;;
        --jobs) jobs=$2 ;;
        esac
        shift
        ;;
    --quick)
        quick=yes
        optimization=-O0
        ;;
    --trace) trace=yes ;;
    --list) sed -nE 's/^([a-z0-9_]+).*/\1/p' "$models/runs"; exit 0 ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
[[ -z $trace || -n $only ]] || fail "--trace needs --variant"

# The runs that were asked for: name, model, expectation, switches.
chosen() {
    local name model expected switches
    while read -r name model expected switches; do
        [[ -n $name && $name != \#* ]] || continue
        [[ -z $quick || $name == *\* ]] || continue
        name=${name%\*}
            [[ -z $only || $name == "$only" ]] || continue
        echo "$name $model $expected $switches"
    done <"$models/runs"
}

# The first thing that broke, by its name in the model; `nothing` only after a whole search.
verdict_of() {
    local folder=$1
    if grep -q 'errors: 1' "$folder/log"; then
        sed -n 's/^violated: //p' "$folder/trace" | grep . || echo "an error of another kind"
    elif grep -q 'errors: 0' "$folder/log" &&
        ! grep -Eq 'Search not completed|depth too small|out of memory' "$folder/log"; then
        echo nothing
    else
        echo unfinished
    fi
}

# Searches one run and leaves a line of the table in its folder. A search by breadth finds the
# shortest trace; a whole search needs less memory by depth.
run() {
    local name=$1 model=$2 expected=$3 folder=$build/$1 options=() limits=(-m1000000 -w25) found
    shift 3
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    cp "$models/$model.pml" .
    if [[ $expected != nothing ]]; then
        set -- "$@" "-DONLY=$expected"
        options=(-DBFS)
        limits=(-w22)
    fi
    spin "$@" -a "$model.pml" >spin.log
    # Indices are constants, so they are not checked at each step: that is half of the time.
    # All choices are in one process, so there are no orders to leave out.
    # A search of a second costs less than its optimization.
    cc "$optimization" -w -DSAFETY -DNOREDUCE -DNOBOUNDCHECK "${options[@]}" -o pan pan.c
    # shellcheck disable=SC2094  # pan writes its trail, and not this log.
    ./pan -n "${limits[@]}" >log 2>&1 || true
    if [[ -e $model.pml.trail ]]; then
        spin "$@" -t -B "$model.pml" 2>&1 | awk -f "$models/names.awk" >trace || true
    fi
    found=$(verdict_of "$folder")
    printf '%-24s %-11s %-19s %-19s %10s %8s  %s\n' "$name" "$model" "$expected" "$found" \
        "$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' log | head -n 1)" \
        "$(sed -nE 's/^pan: elapsed time ([0-9.]+) .*/\1/p' log)" \
        "$([[ $found == "$expected" ]] && echo as expected || echo DIFFERS)" >line
}

install_packages model
command -v spin >/dev/null || fail "there is no spin"
available=$(sed -nE 's/^MemAvailable: *([0-9]+) kB/\1/p' /proc/meminfo 2>/dev/null || true)
if [[ -z $jobs ]]; then
    jobs=$((${available:-0} < 8 * 1024 * 1024 || $(nproc) < 2 ? 1 : 2))
fi

mapfile -t runs < <(chosen)
((${#runs[@]})) || fail "there is no run '$only', see --list"
for each in "${runs[@]}"; do
    while (($(jobs -rp | wc -l) >= jobs)); do
        wait -n || true
    done
    # shellcheck disable=SC2086  # One word for each field and switch.
    (run $each) &
done
wait

printf '%-24s %-11s %-19s %-19s %10s %8s\n' run model expected found states seconds
different=0
for each in "${runs[@]}"; do
    name=${each%% *}
    cat "$build/$name/line" 2>/dev/null || echo "$name did not run, see $build/$name"
    grep -q 'as expected$' "$build/$name/line" 2>/dev/null || different=$((different + 1))
    if [[ -n $trace && -e $build/$name/trace ]]; then
        cat "$build/$name/trace"
    fi
done
((different == 0)) || fail "$different of ${#runs[@]} runs differ from what is expected"
say "${#runs[@]} runs, all as expected"
