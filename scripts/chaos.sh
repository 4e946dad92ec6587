#!/usr/bin/env bash
# Lets workers compete for locks while nodes, links, clocks and workers fail. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/chaos.sh [--seconds N] [--seed N] [--mode NAME] [--without RULE | --controls]
                        [--faults NAME,...] [--workers N] [--polling N] [--rolling N]
                        [--spread N] [--keep DIR]
       scripts/chaos.sh --program [--seconds N] [--seed N]

Builds the worker processes and the nemesis, starts five nodes and a fenced store, and does harm to
them until the time is over. Then a checker goes through all that the workers noted. Exits with 0
if it found nothing and if the workers went on each time when all was healed. test/README.md says
what that proves.

  --seconds N      how long, 60 by default
  --seed N         of the faults; without it, another one each time, which is printed
  --mode NAME      guarded, the default, or plain
  --without RULE   leave out what must not be missing: fencing, quarantine or compare. Ends with the
                   first violation, and with an error if there is none
  --controls       each of these in turn, with at most 120 seconds
  --faults NAMES   only these, separated by commas; --faults list prints them
  --workers N      how many processes, 8 by default
  --polling N      how many of them poll instead of waiting in queues, 0 by default
  --rolling N      every N seconds, ends all faults and restarts all nodes in turn, while leases are
                   held that must outlive that; not by default
  --spread N       the clock of each node is N milliseconds ahead of that of the one before it
  --program        the program redlock instead: `run` and `lead` get TERM, KILL, STOP, TSTP and CONT
  --keep DIR       where the logs of the workers and of the nemesis go, build/chaos by default
USAGE
}

seconds=60
controls=
list=
program=
settings=()
keep=
while (($#)); do
    case $1 in
    --seconds | --seed | --workers | --polling | --rolling | --spread)
        (($# >= 2)) || fail "$1 needs a value"
        [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number from 1 on, not '$2'"
        case $1 in
        --seconds) seconds=$2 ;;
        *) settings+=("${1#--}" "$2") ;;
        esac
        shift
        ;;
    --mode | --without | --faults | --keep)
        (($# >= 2)) || fail "$1 needs a value"
        case $1$2 in
        --faultslist) list=yes ;;
        --keep*) keep=$(realpath -m "$2") ;;
        *) settings+=("${1#--}" "$2") ;;
        esac
        shift
        ;;
    --controls) controls=yes ;;
    --program) program=yes ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

setup

build=$root/build/test
keep=${keep:-$root/build/chaos}
cd "$root"
cmake --preset ci -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >/dev/null
if [[ $program ]]; then
    cmake --build "$build" --parallel "$(build_jobs)" --target redlock_program_chaos
    exec "$build/test/redlock_program_chaos" seconds "$seconds" "${settings[@]}"
fi
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_chaos

chaos() { "$build/test/redlock_chaos" keep "$keep" "$@"; }

if [[ $list ]]; then
    chaos list
elif [[ $controls ]]; then
    for rule in fencing quarantine compare; do
        say "without $rule"
        chaos "${settings[@]}" seconds 120 without "$rule"
    done
else
    chaos "${settings[@]}" seconds "$seconds"
fi
