#!/usr/bin/env bash
# Lets workers compete for a lock while groups of a master and replicas fail over. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'USAGE'
usage: scripts/failovers.sh [--failovers N] [--kind KIND,...] [--groups N] [--replicas N]
                            [--min-replicas N] [--overlap MS]

Builds the worker processes, starts groups with three Sentinels each and a fenced store, and makes
one group after the other fail over. Then a checker goes through all that the workers noted. Prints
how long there was no lock, and exits with 0 if the checker found nothing. The kinds run side by
side. test/README.md says what that proves.

  --failovers N      of each kind, 10 by default
  --kind KIND,...    command (SENTINEL FAILOVER), kill, freeze, cut (from all but its clients), or
                     'there and back' (FAILOVER, without the Sentinels); all of them by default
  --groups N         that are the nodes, 1 by default
  --replicas N       of each group, 1 by default
  --min-replicas N   min-replicas-to-write of all servers, by default all replicas
  --overlap MS       what clients promise; without it they derive it from the settings
USAGE
}

failovers=10
kinds=command,kill,freeze,cut,'there and back'
replicas=1
min_replicas=
settings=()
while (($#)); do
    case $1 in
    --failovers | --groups | --replicas | --min-replicas | --overlap)
        (($# >= 2)) || fail "$1 needs a value"
        [[ $2 =~ ^[0-9]+$ ]] || fail "$1 needs a number, not '$2'"
        case $1 in
        --failovers) failovers=$2 ;;
        --replicas) replicas=$2 ;;
        --min-replicas) min_replicas=$2 ;;
        *) settings+=("${1#--}" "$2") ;;
        esac
        shift
        ;;
    --kind)
        (($# >= 2)) || fail "$1 needs a value"
        kinds=$2
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
cmake --build "$build" --parallel "$(build_jobs)" --target redlock_failovers

runs=()
IFS=, read -ra each <<<"$kinds"
for kind in "${each[@]}"; do
    "$build/test/redlock_failovers" kind "$kind" failovers "$failovers" replicas "$replicas" \
        min_replicas "${min_replicas:-$replicas}" "${settings[@]}" &
    runs+=($!)
done
status=0
for run in "${runs[@]}"; do
    wait "$run" || status=1
done
exit "$status"
