#!/usr/bin/env bash
# Restarts nodes one after the other while leases of every kind are held. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/rolling.sh [--nodes N,...] [--how HOW,...] [--rounds N] [--ttl MS] [--ttl-max MS]
                          [--jobs N]

Builds the program, and for each number of nodes and each HOW runs it three times: alone, with 20
clients that wait, and with these and nodes whose clocks are 100 ms apart. Holders of every kind,
among them `redlock run` and `redlock lead`, have 20 resources while each node in turn goes away and
comes back. The next one goes when `redlock show` says that all nodes have all. Prints a line for
each run, and exits with 0 if no lease was lost and nobody else was granted one.

  --nodes N,...   3,5 by default
  --how HOW,...   what becomes of a node: none or appendonly (it restarts with that much of its
                  data), frozen (for longer than the longest ttl); all of them by default
  --rounds N      how often each node goes away, 3 by default
  --ttl MS        of half of the leases, 1000 by default
  --ttl-max MS    of the others, 10000 by default
  --jobs N        how many runs at a time, 2 by default: they hardly do anything but wait, but a
                  machine that stands still for a third of a second costs a lease of 1 s
USAGE
}

nodes=3,5
how=none,appendonly,frozen
jobs=2
settings=()
while (($#)); do
    case $1 in
    --rounds | --ttl | --ttl-max | --jobs)
        (($# >= 2)) || fail "$1 needs a value"
        [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number from 1 on, not '$2'"
        case $1 in
        --jobs) jobs=$2 ;;
        --ttl-max) settings+=(ttl_max "$2") ;;
        *) settings+=("${1#--}" "$2") ;;
        esac
        shift
        ;;
    --nodes | --how)
        (($# >= 2)) || fail "$1 needs a value"
        declare "${1#--}=$2"
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

setup

build=$root/build/test
cd "$root"
cmake --preset ci -B "$build" -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR" >/dev/null
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_rolling

for each_how in ${how//,/ }; do
    for count in ${nodes//,/ }; do
        for crowd in 'waiters 0' 'waiters 20' 'waiters 20 spread 100'; do
            echo "nodes $count how $each_how $crowd ${settings[*]}"
        done
    done
done | xargs -P "$jobs" -I{} sh -c "'$build/test/redlock_rolling' {}"
