#!/usr/bin/env bash
# Plants the bugs of test/mutants.toml one by one, and tells which test notices each. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

case " $* " in
*" --help "* | *" --list "*) ;;
*) setup sim ;;
esac
exec python3 "$root/scripts/mutants_run.py" --jobs "$(build_jobs)" "$@"
