#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves the README's two commands on a fresh Debian 12: clean_root.sh SOURCE [WORKDIR]
#
# Makes a minimal root with debootstrap, clones the last commit of SOURCE into it, and runs
# ./tools/demo and ./tools/test there. Needs root, debootstrap and Debian's archive.
set -euo pipefail
source=$(cd "$1" && pwd)
keep=${2-}
work=${2:-$(mktemp -d /var/tmp/gpubound-clean-root.XXXXXX)}
fresh=$work/root

fail() { echo "clean_root: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "must run as root, for chroot and mounts"
command -v debootstrap >/dev/null || fail "debootstrap is missing; install the package debootstrap"

cleanup() {
  local mount
  for mount in dev/shm dev/pts dev proc sys .; do
    mountpoint -q "$fresh/$mount" && umount -l "$fresh/$mount"
  done
  [ -n "$keep" ] || rm -rf "$work"
}
trap cleanup EXIT

mkdir -p "$fresh"
# Debian's own archive among whatever else is configured; the classic file may not exist.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' |
  grep -m 1 '/debian/\?$' || true)
[ -n "$mirror" ] || fail "no Debian archive is configured in /etc/apt"
debootstrap --variant=minbase --include=git,ca-certificates bookworm "$fresh" "$mirror" >&2

# Network settings of this machine: archive, proxy and index configuration, name service.
for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/keyrings \
    /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/npmrc /usr/local/share/ca-certificates \
    /etc/ssl/certs/ca-certificates.crt "${NODE_EXTRA_CA_CERTS:-}"; do
  if [ -n "$file" ] && [ -e "$file" ]; then
    mkdir -p "$fresh$(dirname "$file")"
    rm -rf "$fresh${file:?}"
    cp -aL "$file" "$fresh$file"
  fi
done
for config in "$HOME/.config/pip" "$HOME/.pip"; do
  if [ -e "$config" ]; then
    mkdir -p "$fresh/root/${config#"$HOME"/}"
    cp -aL "$config/." "$fresh/root/${config#"$HOME"/}/"
  fi
done
[ -e "$HOME/.npmrc" ] && cp -aL "$HOME/.npmrc" "$fresh/root/.npmrc"
mount --bind "$fresh" "$fresh"  # "/" in there must be a mount, for tests that mount
mount -t proc proc "$fresh/proc"
mount --rbind /sys "$fresh/sys"
mount --rbind /dev "$fresh/dev"

git clone -q --no-local "$source" "$fresh/root/gpubound"

inside() {
  chroot "$fresh" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    $(env | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|PIP_[A-Z_]+|[nN][pP][mM]_[cC][oO][nN][fF][iI][gG]_[A-Za-z_]+|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') \
    bash -c "cd /root/gpubound && $1"
}

echo "== ./tools/demo in a fresh root" >&2
inside ./tools/demo | tee "$work/demo.out"
grep -q 'SIMULATED DEVICE' "$work/demo.out" || fail "the demo's output does not say SIMULATED DEVICE"
grep -q 'simulation' "$work/demo.out" || fail "the demo's report has no row for simulation"
grep -q 'without the profiler' "$work/demo.out" || fail "the demo's report is not a corrected one"
for word in trace report page; do
  printed=$(sed -n "s/^$word: *\([^ ]*\).*/\1/p" "$work/demo.out")
  [ -n "$printed" ] && [ -s "$fresh$printed" ] ||
    fail "the demo printed no path of its $word, or nothing is there: '$printed'"
done
echo "== ./tools/test in a fresh root" >&2
inside ./tools/test | tee "$work/test.out" | tail -n 40
grep -q '^100% tests passed' "$work/test.out" || fail "./tools/test did not pass in the fresh root"
echo "clean_root: both commands work in a fresh Debian root" >&2
