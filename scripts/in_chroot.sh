#!/usr/bin/env bash
# Proves a command on a fresh Debian. A developer's tool, see --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOF'
usage: scripts/in_chroot.sh [--build SUITE] [--keep] BASE COMMAND...

Copies the pristine system in the directory BASE, clones HEAD of this repository into /root/redlock
of the copy and runs COMMAND there. Tells its exit code and duration, and fails if it left a process
running. Needs root.

  --build SUITE   first make BASE with debootstrap (bookworm or trixie), if it does not exist
  --keep          keep the copy, to look into it
EOF
}

suite=
keep=
while (($#)); do
    case $1 in
    --build)
        (($# >= 2)) || fail "$1 needs a value"
        suite=$2
        shift
        ;;
    --keep) keep=yes ;;
    --help) usage; exit 0 ;;
    -*) fail "unknown option '$1', see --help" ;;
    *) break ;;
    esac
    shift
done
(($# >= 2)) || fail "needs a base and a command, see --help"
((EUID == 0)) || fail "needs root"
base=${1%/}
shift

if [[ -n $suite && ! -e $base ]]; then
    command -v debootstrap >/dev/null || fail "please install debootstrap"
    mirror=$(debian_mirrors | head -n 1)
    [[ -n $mirror ]] || fail "this machine has no source of Debian packages to build from"
    say "building $base"
    # Into place only when complete: half a system must not be taken for a base later.
    quietly debootstrap --variant=minbase --include=git,ca-certificates \
        "$suite" "$base.part" "$mirror"
    mv "$base.part" "$base"
fi
[[ -e $base/etc/debian_version ]] || fail "$base is no Debian system, see --build"

fresh=$(mktemp -d "$base.XXXXXX")
if [[ -n $keep ]]; then
    say "the copy is $fresh"
else
    trap 'rm -rf --one-file-system "$fresh"' EXIT
fi
cp -a --reflink=auto "$base/." "$fresh"
cp -L --remove-destination /etc/resolv.conf "$fresh/etc/resolv.conf"
# An installed system has this file, debootstrap makes none.
[[ -e $fresh/etc/hosts ]] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$fresh/etc/hosts"
git clone --quiet --no-hardlinks "$root" "$fresh/root/redlock"

# Runs as the first process of namespaces of its own. The mounts and every process end with it, also
# when it is killed: removing the copy can never reach into the /dev of the machine.
# shellcheck disable=SC2317  # Called by the bash under unshare.
inside() {
    mount -t proc proc "$fresh/proc"
    mount --rbind /dev "$fresh/dev"
    local status=0 process program
    # shellcheck disable=SC2016  # The inner shell expands these.
    chroot "$fresh" env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -c 'cd /root/redlock && exec "$@"' bash "$@" || status=$?
    for process in "$fresh"/proc/[1-9]*; do
        program=$(readlink "$process/exe") || continue
        if [[ ${process##*/} != 1 ]]; then
            say "left running: ${program#"$fresh"}"
            ((status)) || status=1
        fi
    done
    return "$status"
}
export -f inside say
export fresh

SECONDS=0
status=0
unshare --mount --pid --fork --kill-child bash -c 'set -eu; inside "$@"' "$0" "$@" || status=$?
say "exit code $status after $SECONDS s: $*"
exit "$status"
