#!/usr/bin/env bash
# Shows what the lock is for, with the stock service under load. See --help.
set -euo pipefail
export REDLOCK_BOOST=newest  # Boost.Redis and Boost.MySQL of the examples need it.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

units=100
instances=4
seconds=15
connections=64

usage() {
    cat <<EOF
usage: scripts/stock_load.sh [--seconds N] [--connections N]

Installs what is missing (Debian), builds the stock service and starts five lock nodes, a MariaDB
and $instances instances of the service. Then wrk buys at full load what there is, $units units:
with the lock, and without it. At last one instance stands still in the middle of a sale, until it
is too late. Exits with 0 if $units were sold with the lock and more without, and the late sale was
refused. All that it starts listens on loopback or in a private folder, and is gone at the end.

  --seconds N      how long each run takes, $seconds without it
  --connections N  how many buyers there are at a time, $connections without it
EOF
}

while (($#)); do
    case $1 in
    --seconds | --connections)
        (($# >= 2)) || fail "$1 needs a value"
        [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || fail "$1 needs a number from 1 to 9999, not '$2'"
        declare "${1#--}=$2"
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done
((connections >= instances)) || fail "--connections needs at least one for each instance"

setup mariadb stock

build=$root/build/release
cd "$root"
say "building, which takes minutes for the first time"
quietly cmake --preset release -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
quietly cmake --build "$build" --parallel "$(build_jobs)" \
    --target redlock_tool --target redlock_stock_service ||
    fail "no stock service: it needs CLI11, Boost.MySQL and Boost.Charconv"

folder=$(mktemp -d)
children=()
# Nothing of theirs is wanted any more, so they are not asked to end. The shell would report each.
end_children() {
    {
        ((${#children[@]} == 0)) || kill -KILL "${children[@]}" || true
        wait
    } 2>/dev/null
    rm -rf "$folder"
}
trap end_children EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs a program as a child, with its output in the log of that name.
start() {
    local log=$folder/$1.log
    shift
    "$@" >"$log" 2>&1 &
    children+=($!)
}

# Waits until a command succeeds, for at most 60 s or as long as the last child lives.
await() {
    local tries=600
    until "$@"; do
        if ! ((tries-- > 0)) || ! kill -0 "${children[-1]}"; then
            fail "$* failed: $(tail -n 5 "$folder"/*.log)"
        fi
        sleep 0.1
    done
}

nodes=
for node in node1 node2 node3 node4 node5; do
    start "$node" redis-server --port 0 --unixsocket "$folder/$node" --unixsocketperm 700 \
        --dir "$folder" --save '' --appendonly no
    nodes+=${nodes:+,}unix://$folder/$node
    await test -S "$folder/$node"
done
REDLOCK_NODES=$nodes quietly "$build/src/tool/redlock" init

# Without the tables of its system, which take long to make, MariaDB lets everybody in. It is
# reached through the private folder only.
mkdir "$folder/data"
echo 'CREATE DATABASE test;' >"$folder/init"
as_root=()
((EUID != 0)) || as_root=(--user=root)
start database mariadbd --no-defaults --skip-grant-tables --skip-networking \
    --socket="$folder/database" --datadir="$folder/data" --tmpdir="$folder" \
    --pid-file="$folder/pid" --init-file="$folder/init" --innodb-buffer-pool-size=16M \
    --innodb-use-native-aio=OFF "${as_root[@]}"
await test -S "$folder/database"

port_of() { sed -nE 's/^listening on .*:([0-9]+)$/\1/p' "$folder/$1.log"; }
has_port() { [[ -n $(port_of "$1") ]]; }

# Prints the body that an instance replies with.
ask() {
    local port=$1 request=$2 target=$3 body=${4:-}
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf '%s %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s' \
        "$request" "$target" "${#body}" "$body" >&3
    sed -n '$p' <&3
    exec 3>&-
}

number_in() { sed -nE "s/.*\"$1\":(-?[0-9]+).*/\1/p"; }

# Starts an instance and sets `port`. Options of its own come after the name.
start_service() {
    local name=$1
    shift
    start "$name" "$build/examples/stock_service/redlock_stock_service" --nodes "$nodes" \
        --database-socket "$folder/database" --database-limit 10000 "$@"
    await has_port "$name"
    port=$(port_of "$name")
}

# Asks instances to end, and waits for it.
end_services() {
    kill "$@"
    wait "$@" || fail "a service did not end well: $(cat "$folder"/service-*.log)"
}

# Prints what the buyers were told: how many of them, their share, and what it means.
explain() {
    awk '
        BEGIN {
            means["sold"] = "a unit is theirs"
            means["sold_out"] = "nothing was left"
            means["not_locked"] = "no lock within 2 s: they may come back later"
            means["stale"] = "came too late, and was refused by its token"
            means["broken"] = "no answer"
        }
        /99%/ { slowest = $2 }
        /requests in/ { requests = $1 }
        /Requests.sec/ { rate = $2 }
        /^told/ { told[$2] = $3; all += $3 }
        END {
            printf "    %s requests, %.0f in a second, 99%% of them within %s\n",
                requests, rate, slowest
            for (what in told)
                printf "    %-10s %5d %3.0f%%  %s\n",
                    what, told[what], 100 * told[what] / all, means[what] | "sort"
        }' "$1"
}

# Sells an item under load and prints what came of it. Sets `sold`.
run() {
    local lock=$1 item=$2 i ports=() services=() servers=("${children[@]}") left
    for ((i = 1; i <= instances; ++i)); do
        start_service "service-$lock-$i" --item "$item" "$units" --lock "$lock"
        services+=("${children[-1]}")
        ports+=("$port")
    done

    printf '\nlock %s: %s units, %s instances, %s buyers at a time, %s s\n' \
        "$lock" "$units" "$instances" "$connections" "$seconds"
    start wrk wrk --threads "$instances" --connections "$connections" --duration "${seconds}s" \
        --timeout 30s --latency --script "$root/scripts/stock_load.lua" \
        "http://127.0.0.1:${ports[0]}/items/$item/sell" -- "${ports[@]}"
    wait "${children[-1]}" || fail "wrk: $(cat "$folder/wrk.log")"
    unset 'children[-1]'
    explain "$folder/wrk.log"

    sold=0
    for port in "${ports[@]}"; do
        sold=$((sold + $(ask "$port" GET /healthz | number_in sold_units)))
    done
    left=$(ask "${ports[0]}" GET "/items/$item" | number_in left)
    printf '    The instances sold %s of %s units, and the database has %s left.\n' \
        "$sold" "$units" "$left"
    end_services "${services[@]}"
    children=("${servers[@]}")
}

# One instance stands still in the middle of a sale, until its lease is over and another one has
# sold. Sets `refused`.
run_late() {
    local item=$1 sale='{"quantity": 1}' late next servers=("${children[@]}") answer
    start_service service-next --item "$item" "$units" --lock-wait 20000
    next=$port
    start_service service-late --lock-ttl 1000 --compute 4000
    late=${children[-1]}

    printf '\nlock on, and an instance that stands still in the middle of a sale\n'
    ask "$port" POST "/items/$item/sell" "$sale" >"$folder/late" &
    answer=$!
    sleep 2  # It has read how much there is, and computes.
    kill -STOP "$late"
    printf '    another one sells meanwhile: %s\n' "$(ask "$next" POST "/items/$item/sell" "$sale")"
    kill -CONT "$late"
    wait "$answer"
    printf '    then the late one goes on:   %s\n' "$(cat "$folder/late")"
    refused=$(ask "$port" GET /healthz | number_in refused_stale)
    printf '    Its write was refused by its token, and %s are left of %s.\n' \
        "$(ask "$next" GET "/items/$item" | number_in left)" "$units"
    end_services "${children[@]:${#servers[@]}}"
    children=("${servers[@]}")
}

run on 1
sold_with_lock=$sold
run off 2
run_late 3

printf '\nOf %s units, %s were sold with the lock and %s without it. Stale sales refused: %s.\n' \
    "$units" "$sold_with_lock" "$sold" "$refused"
((sold_with_lock == units)) || fail "with the lock $units should be sold"
((sold > units)) || fail "without the lock more than $units should be sold"
((refused == 1)) || fail "the stale sale should be refused"
