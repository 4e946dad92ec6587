#!/usr/bin/env bash
# Plants the bugs of test/mutants.toml one by one, and tells which test notices each. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/mutants.sh [--mutant NAME]... [--list] [--table] [--jobs N] [--schedules N]
                          [--copy DIR]

Plants each bug of test/mutants.toml in a copy of the tree, builds the unit tests and runs them
until the first one fails; the suite that the table names comes first. A mutant that passes them
goes to what the table names besides: schedules of the simulator, or a suite of the integration
tests. One that passes all of it survives. It is an error if a mutant survives, cannot be planted or
does not compile. The tree itself is not touched.

  --mutant NAME    only this one
  --list           only tell which ones there are
  --table          run all and print the table of test/README.md
  --jobs N         compilations at a time, as many as there are processors by default
  --schedules N    of the simulator for each mutant that needs them, 20000 by default
  --copy DIR       the copy of the tree, build/mutants/tree by default; it is kept, with its build
USAGE
}

work=$root/build/mutants
copy=$work/tree
mutants=()
action=run
jobs=$(build_jobs)
schedules=20000
while (($#)); do
    case $1 in
    --mutant | --jobs | --schedules | --copy)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --mutant) mutants+=("$2") ;;
        --jobs) jobs=$2 ;;
        --schedules) schedules=$2 ;;
        --copy) copy=$2 ;;
        esac
        shift
        ;;
    --list) action=list ;;
    --table) action=table ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
build=$copy/build/test

declare -A rules killers
all=()
read_table() {
    local name file killer rule
    while IFS=$'\t' read -r name file killer rule; do
        rules[$name]=$rule
        killers[$name]=$killer
        all+=("$name")
    done < <("$root/scripts/mutants.py" list | sort --field-separator=$'\t' --key=2,2 --stable)
    ((${#all[@]})) || fail "there is no table"
}

rule_of() { echo "${rules[$1]}"; }
killer_of() { echo "${killers[$1]}"; }

# The files that a mutant has changed in the copy are as before again.
restore() {
    local file
    while IFS= read -r file; do
        cp "$root/$file" "$copy/$file"
    done <"$work/changed"
}

# Brings the copy up to date. Only what differs is written, so that only that is compiled: also what
# a run that was cut short has left behind.
update_copy() {
    local file
    mkdir -p "$copy" "$work"
    git -C "$root" ls-files -co --exclude-standard | sort >"$work/files"
    if [[ -e $work/files.before ]]; then
        comm -13 "$work/files" "$work/files.before" | (cd "$copy" && xargs -r -d '\n' rm -f)
    fi
    while IFS= read -r file; do
        [[ -e $root/$file ]] || continue  # Deleted, and git does not know yet.
        cmp -s "$root/$file" "$copy/$file" ||
            (cd "$root" && cp --parents --preserve=mode "$file" "$copy")
    done <"$work/files"
    mv "$work/files" "$work/files.before"
}

configure() {
    local linker=
    [[ ! -e $build/build.ninja ]] || return 0
    # Each mutant is linked once, which takes it a seventh of the time.
    if command -v ld.lld >/dev/null; then
        linker=-fuse-ld=lld
    fi
    (cd "$copy" && cmake --preset ci -B "$build" -DCMAKE_EXE_LINKER_FLAGS="$linker" \
        -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >/dev/null)
}

# The programs that may kill a mutant, cheapest first.
programs_of() {
    echo redlock_unit_tests
    case $(killer_of "$1") in
    sim) echo redlock_sim ;;
    integration*) echo redlock_integration_tests ;;
    esac
}

compile() { cmake --build "$build" --parallel "$jobs" --target "$@" >"$work/build.log" 2>&1; }

# Runs a program of tests until the first one fails, and prints its name. Fails if none does.
first_failure() {
    local line suite='' inside='' pid
    exec {output}< <(exec "$@" --log_level=test_suite --color_output=no 2>&1)
    pid=$!
    while IFS= read -r -t 120 line <&"$output"; do
        if [[ $line =~ Entering\ test\ suite\ \"([^\"]+)\" ]]; then
            suite=${BASH_REMATCH[1]}
        elif [[ $line =~ Entering\ test\ case\ \"([^\"]+)\" ]]; then
            inside=$suite/${BASH_REMATCH[1]}
        elif [[ $line == *'No errors detected'* ]]; then
            exec {output}<&-
            return 1
        elif [[ $line =~ error:\ in\ \"([^\"]+)\" ]]; then
            inside=${BASH_REMATCH[1]}
            break
        fi
    done
    kill -KILL "$pid" 2>/dev/null || true
    exec {output}<&-
    # A test that says nothing has brought the program to an end, or to a stand.
    [[ -n $inside ]] && echo "$inside"
}

# The seed and the rule of the first schedule that goes wrong. Fails if none does.
first_broken_schedule() {
    local line
    line=$({ "$1" --schedules "$schedules" 2>&1 || true; } | grep -m 1 '^seed ') || return 1
    sed -E 's/^seed ([0-9]+) of ([a-z]+): ([^ ]+).*/\2, seed \1, \3/' <<<"$line"
}

# Where a program is put when it is built, so that the next mutant may be built meanwhile.
taken() { echo "$work/programs/$1.$2"; }

take_programs() {
    local program
    mkdir -p "$work/programs"
    for program in $(programs_of "$1"); do
        mv "$(find "$build" -name "$program" -type f -perm -u+x)" "$(taken "$1" "$program")"
    done
}

kill_mutant() {
    local name=$1 killer by unit_tests
    killer=$(killer_of "$name")
    unit_tests=$(taken "$name" redlock_unit_tests)
    if [[ $killer == unit\ * ]] && by=$(first_failure "$unit_tests" --run_test="${killer#* }"); then
        by="unit: $by"
    elif by=$(first_failure "$unit_tests"); then
        by="unit: $by"
    elif [[ $killer == sim ]] && by=$(first_broken_schedule "$(taken "$name" redlock_sim)"); then
        by="sim: $by"
    elif [[ $killer == integration* ]] && by=$(first_failure \
        "$(taken "$name" redlock_integration_tests)" --run_test="${killer#* }"); then
        by="integration: $by"
    else
        by=survived
    fi
    rm -f "$work/programs/$name".*
    tell "$name" "$by"
}

tell() {
    say "$1: $2"
    echo "$2" >"$work/results/$1"
}

# Builds a mutant, and lets the tests look at it in the background.
try() {
    local name=$1 programs
    mapfile -t programs < <(programs_of "$name")
    if ! "$root/scripts/mutants.py" plant "$name" "$copy" >"$work/changed"; then
        tell "$name" "cannot be planted"
    elif compile "${programs[@]}"; then
        restore
        while (($(jobs -pr | wc -l) >= jobs)); do
            wait -n
        done
        take_programs "$name"
        # Tests with real servers start other programs of the build. So nothing is built meanwhile.
        case $(killer_of "$name") in
        integration*) kill_mutant "$name" ;;
        *) kill_mutant "$name" & ;;
        esac
    else
        restore
        tell "$name" "does not compile"
        cp "$work/build.log" "$work/$name.log"
    fi
}

# What passes without a mutant only, shows something with one.
check_without_mutant() {
    local programs suites=() each failed
    mapfile -t programs < <(for each in "${mutants[@]}"; do programs_of "$each"; done | sort -u)
    compile "${programs[@]}" || fail "the tests do not compile, see $work/build.log"
    mapfile -t suites < <(for each in "${mutants[@]}"; do killer_of "$each"; done |
        sed -n 's/^integration //p' | sort -u)
    if failed=$(first_failure "$build/test/redlock_unit_tests"); then
        fail "a unit test fails without a mutant: $failed"
    fi
    for each in "${suites[@]}"; do
        if failed=$(first_failure "$build/test/redlock_integration_tests" --run_test="$each"); then
            fail "an integration test fails without a mutant: $failed"
        fi
    done
}

print_results() {
    local name
    for name in $(printf '%s\n' "${mutants[@]}" | sort); do
        if [[ $action == table ]]; then
            printf '| `%s` | %s | %s |\n' "$name" "$(rule_of "$name")" \
                "$(sed -E 's/^([a-z]+): (.*)/\1: `\2`/' "$work/results/$name")"
        else
            printf '%-40s %s\n' "$name" "$(<"$work/results/$name")"
        fi
    done
}

read_table
# Sorted by file: what one mutant has changed is compiled only once more, for the next.
((${#mutants[@]})) || mutants=("${all[@]}")
for mutant in "${mutants[@]}"; do
    [[ -n ${rules[$mutant]:-} ]] || fail "there is no mutant '$mutant', see --list"
done
if [[ $action == list ]]; then
    for mutant in "${mutants[@]}"; do
        printf '%-40s %s\n' "$mutant" "$(rule_of "$mutant")"
    done | sort
    exit 0
fi

setup
update_copy
configure
rm -rf "$work/results" "$work/programs"
mkdir -p "$work/results"
say "building and testing without a mutant"
check_without_mutant
begun=$SECONDS
for mutant in "${mutants[@]}"; do
    try "$mutant"
done
wait
if [[ $action == table ]]; then
    printf '| Mutant | Rule that it breaks | Killed by |\n|---|---|---|\n'
fi
print_results
bad=$(grep -L -E '^(unit|sim|integration): ' "$work/results"/* | wc -l || true)
say "${#mutants[@]} mutants in $((SECONDS - begun)) s, $((${#mutants[@]} - bad)) killed"
((bad == 0))
