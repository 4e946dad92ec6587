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
with the lock, and without it. Exits with 0 if $units were sold with the lock and more without.
All that it starts listens on loopback or in a private folder, and is gone at the end.

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
cmake --preset release -DREDLOCK_BOOST_INCLUDE_DIR="$REDLOCK_BOOST_INCLUDE_DIR"
cmake --build "$build" --parallel "$(build_jobs)" \
    --target redlock_initialize --target redlock_stock_service ||
    fail "no stock service: see above what the build goes without"

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
"$build/examples/redlock_initialize" "$nodes"

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
    local port=$1 target=$2
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET %s HTTP/1.0\r\n\r\n' "$target" >&3
    sed -n '$p' <&3
    exec 3>&-
}

number_in() { sed -nE "s/.*\"$1\":(-?[0-9]+).*/\1/p"; }

# Sells an item under load and prints what came of it. Sets `sold`.
run() {
    local lock=$1 item=$2 i port ports=() services=() servers=("${children[@]}")
    for ((i = 1; i <= instances; ++i)); do
        start "service-$lock-$i" "$build/examples/stock_service/redlock_stock_service" \
            --nodes "$nodes" --database-socket "$folder/database" --database-limit 10000 \
            --item "$item" "$units" --lock "$lock"
        services+=("${children[-1]}")
    done
    for ((i = 1; i <= instances; ++i)); do
        await has_port "service-$lock-$i"
        ports+=("$(port_of "service-$lock-$i")")
    done

    printf '\nlock %s: %s units, %s instances, %s connections, %s s\n' \
        "$lock" "$units" "$instances" "$connections" "$seconds"
    start wrk wrk --threads "$instances" --connections "$connections" --duration "${seconds}s" \
        --timeout 30s --latency --script "$root/scripts/stock_load.lua" \
        "http://127.0.0.1:${ports[0]}/items/$item/sell" -- "${ports[@]}"
    wait "${children[-1]}" || fail "wrk: $(cat "$folder/wrk.log")"
    unset 'children[-1]'
    sed -nE '/^told|99%|requests in|Requests.sec/s/^ *(.*[^ ]) *$/    \1/p' "$folder/wrk.log"

    sold=0
    for port in "${ports[@]}"; do
        sold=$((sold + $(ask "$port" /healthz | number_in sold_units)))
    done
    printf '    sold %s of %s, left %s\n' "$sold" "$units" \
        "$(ask "${ports[0]}" "/items/$item" | number_in left)"
    kill "${services[@]}"
    wait "${services[@]}" || fail "a service did not end well: $(cat "$folder/service-$lock"-*.log)"
    children=("${servers[@]}")
}

run on 1
sold_with_lock=$sold
run off 2

printf '\nwith the lock %s sold, without it %s\n' "$sold_with_lock" "$sold"
((sold_with_lock == units)) || fail "with the lock $units should be sold"
((sold > units)) || fail "without the lock more than $units should be sold"
