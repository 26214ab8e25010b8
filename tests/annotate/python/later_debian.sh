#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the package's tests on the Python of a later Debian, in a root of its own, with the extension
# that was built here for the stable ABI: later_debian.sh SOURCE BUILD COLLECTOR VERSION [SUITE]
#
# BUILD is a folder of SOURCE, COLLECTOR the library of recorded_calls.cc in it; VERSION is 3.14 or the
# like. Needs root, debootstrap and Debian's archive.
set -euo pipefail
source=$(cd "$1" && pwd)
package=$(cd "$2/python" && pwd)
collector=$3
version=$4
suite=${5:-forky}
work=$(mktemp -d /var/tmp/gpubound-later-debian.XXXXXX)
fresh=$work/root

fail() { echo "later_debian: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "must run as root, for chroot and mounts"
command -v debootstrap >/dev/null || fail "debootstrap is missing; install the package debootstrap"
[ -e "$package/gpubound/_core.abi3.so" ] ||
  fail "$package has no extension for the stable ABI; build it with a Python that has the lock"

cleanup() {
  local mount
  for mount in "$source" proc dev; do
    mountpoint -q "$fresh/$mount" && umount -l "$fresh/$mount"
  done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# Scripts of debootstrap are as old as this Debian; that of sid fits all that came after.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
  "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1)
debootstrap --variant=minbase --include="python$version" "$suite" "$fresh" \
  "${mirror:?apt-get knows no mirror}" /usr/share/debootstrap/scripts/sid >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
mkdir -p "$fresh$source"
mount --bind "$source" "$fresh$source"
mount --bind /proc "$fresh/proc"
mount --bind /dev "$fresh/dev"

cd "$source/tests/annotate/python"
for test in *_test.py; do
  recorded=("GPUBOUND_LIBRARY=$collector")
  [ "$test" = no_collector_test.py ] && recorded=()
  echo "== $test on $(chroot "$fresh" "python$version" --version)" >&2
  chroot "$fresh" env -i HOME=/root PATH=/usr/bin:/bin "PYTHONPATH=$package" "${recorded[@]}" \
    sh -c "cd '$PWD' && python$version -B -X dev -W error -m unittest ${test%.py}"
done
