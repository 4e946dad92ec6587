#!/usr/bin/env bash
# Makes a site of docs/ and of the comments in the public headers. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOT'
usage: scripts/site.sh [--output DIR] [--check | --pictures DIR]

Installs what is missing (Debian) and makes a site: the pages of docs/, a reference of the public
names, and the files that the pages refer to. Open build/site/index.html; no server is needed.

  --output DIR  where to write it, instead of build/site
  --check       print a line for each dead link and each public name without a comment, and fail
                if there is one; installs nothing
  --pictures DIR  also write pictures of five pages, of the search and of the menus into the folder,
                  on a screen and a phone, light and dark
EOT
}

output=$root/build/site
check=()
pictures=
while (($#)); do
    case $1 in
    --output)
        (($# >= 2)) || fail "$1 needs a value"
        output=$2
        shift
        ;;
    --check) check=(--check) ;;
    --pictures)
        (($# >= 2)) || fail "$1 needs a value"
        pictures=$2
        shift
        ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

if ((${#check[@]} == 0)); then
    install_packages site
elif ! has_site_tools; then
    say "SKIPPED: needs what scripts/setup.sh site installs"
    exit 0
fi
say "writing $output"
"$(site_python)" "$root/docs/site/build.py" "$output" "${check[@]}"

if [[ -n $pictures ]]; then
    install_packages browser
    fetch_playwright
    node "$root/test/browser/site_screenshots.js" "$output" "$pictures"
fi
