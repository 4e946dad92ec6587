#!/usr/bin/env bash
# Makes everything that a release consists of, and installs it on fresh Debians. See --help.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'EOT'
usage: scripts/release.sh [--output DIR] [--url URL] [--bases DIR] [--without-check]

Makes a release of HEAD, whose version CMakeLists.txt and CHANGELOG.md name:

  redlock-VERSION.tar.gz   the sources
  bookworm/, trixie/       the .deb packages for Debian 12 and 13
  vcpkg/, conan/           recipes that download the sources and check them
  redlock-VERSION-site.tar.gz, SHA256SUMS

Then it installs the sources and the packages on fresh copies of Debian 12 and 13. A program built
with each acquires a lease on three nodes. Needs root, and takes about half an hour.

  --output DIR      where the release goes, build/release by default
  --url URL         the folder where the sources will be published, for the recipes; by default
                    the file where they are now
  --bases DIR       where the pristine systems are, or are made; build/debian by default
  --without-check   make it, but install nothing
EOT
}

output=$root/build/release
bases=$root/build/debian
url=
check=yes
while (($#)); do
    case $1 in
    --output | --url | --bases)
        (($# >= 2)) || fail "$1 needs a value"
        case $1 in
        --output) output=$(realpath -m "$2") ;;
        --url) url=${2%/} ;;
        --bases) bases=$(realpath -m "$2") ;;
        esac
        shift
        ;;
    --without-check) check= ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option '$1', see --help" ;;
    esac
    shift
done

version=$(sed -nE 's/^ *VERSION ([0-9.]+)$/\1/p' "$root/CMakeLists.txt" | head -n 1)
name=redlock-$version
suites=(bookworm trixie)

on_fresh() {
    local suite=$1
    shift
    "$root/scripts/in_chroot.sh" --build "$suite" "$bases/$suite" "$@"
}

check_sources() {
    ((EUID == 0)) || fail "needs root, for fresh copies of Debian"
    [[ -z $(git -C "$root" status --porcelain) ]] || fail "there are changes that no commit has"
    grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" "$root/CHANGELOG.md" ||
        fail "CHANGELOG.md has no heading '## $version (YEAR-MONTH-DAY)'"
}

# The same commit gives the same bytes: git sets the times, and gzip adds none.
make_tarball() {
    git -C "$root" archive --format=tar --prefix="$name/" HEAD | gzip -n >"$output/$name.tar.gz"
}

checksum() { "$1sum" "$output/$name.tar.gz" | cut -d ' ' -f 1; }

# The recipes of packaging/ take the sources from the clone unless such a file is beside them.
make_recipes() {
    local from=${url:-file://$output}/$name.tar.gz
    cp -r "$root/packaging/vcpkg/redlock" "$output/vcpkg"
    cp -r "$root/packaging/conan" "$output/conan"
    cat >"$output/vcpkg/release.cmake" <<EOT
vcpkg_download_distfile(archive
    URLS "$from"
    FILENAME "$name.tar.gz"
    SHA512 $(checksum sha512)
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "\${archive}")
EOT
    cat >"$output/conan/conandata.yml" <<EOT
sources:
  "$version":
    url: "$from"
    sha256: "$(checksum sha256)"
EOT
}

make_site() {
    "$root/scripts/site.sh" --output "$output/site"
    tar -C "$output" --transform "s,^site,$name-site," -czf "$output/$name-site.tar.gz" site
    rm -rf "$output/site"
}

make_packages() {
    mkdir "$output/$1"
    on_fresh "$1" bash -c "scripts/package.sh --output /root/out >&2 && tar -C /root/out -c ." |
        tar -C "$output/$1" -x
}

check_release() {
    local suite=$1
    tar -C "$output/$suite" -c . | on_fresh "$suite" scripts/package_test.sh --installed
    on_fresh "$suite" scripts/package_test.sh --built <"$output/$name.tar.gz"
}

check_sources
rm -rf "$output"
mkdir -p "$output" "$bases"
make_tarball
make_recipes
make_site
for suite in "${suites[@]}"; do
    make_packages "$suite"
done
(cd "$output" && sha256sum -- *.tar.gz */*.deb >SHA256SUMS)
if [[ -n $check ]]; then
    (cd "$output" && sha256sum --quiet --check SHA256SUMS)
    for suite in "${suites[@]}"; do
        check_release "$suite"
    done
fi
say "$name is in $output"
