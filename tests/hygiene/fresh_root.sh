# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests in a fresh Debian: of $suite (bookworm), with $packages. Needs root, debootstrap and Debian's archive.

fail() { echo "${0##*/}: $*" >&2; exit 1; }

cleanup() {
  local mount
  for mount in dev/shm dev/pts dev proc sys .; do
    mountpoint -q "$fresh/$mount" && umount -l "$fresh/$mount"
  done
  [ -n "$keep" ] || rm -rf "$work"
}

# make_fresh_root SOURCE [WORKDIR]: a minimal root in $fresh with this machine's settings of the network; away
# again at the end, unless there is a WORKDIR, whose root is taken again. Sets $source and $work too.
make_fresh_root() {
  source=$(cd "$1" && pwd)
  keep=${2-}
  work=${2:-$(mktemp -d /var/tmp/gpubound-clean-root.XXXXXX)}
  fresh=$work/root
  [ "$(id -u)" -eq 0 ] || fail "must run as root, for chroot and mounts"
  command -v debootstrap >/dev/null || fail "debootstrap is missing; install the package debootstrap"
  trap cleanup EXIT

  mkdir -p "$fresh"
  # Debian's own archive among whatever else is configured; the classic file may not exist.
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' |
    grep -m 1 '/debian/\?$' || true)
  [ -n "$mirror" ] || fail "no Debian archive is configured in /etc/apt"
  local release=${suite:-bookworm}
  if [ ! -e "$fresh/complete" ]; then
    debootstrap --variant=minbase "--include=${packages:-git,ca-certificates}" "$release" "$fresh" "$mirror" >&2
    touch "$fresh/complete"
  fi

  # Network settings of this machine: archive, proxy and index configuration, name service.
  local archive="/etc/apt/sources.list /etc/apt/sources.list.d"
  [ "$release" = bookworm ] || archive=""
  for file in $archive /etc/apt/apt.conf.d /etc/apt/keyrings \
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
}

# inside FOLDER COMMAND: runs it there, with that root as the one of a mount namespace: in a mere chroot no program
# may make a user namespace.
inside() {
  unshare --mount bash -c 'cd "$1" && mkdir -p .outside && pivot_root . .outside && umount -l /.outside && shift &&
    exec "$@"' enter "$fresh" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    $(env | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|PIP_[A-Z_]+|[nN][pP][mM]_[cC][oO][nN][fF][iI][gG]_[A-Za-z_]+|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') \
    bash -c "cd '$1' && $2"
}

# hooks_python FOLDER GPUBOUND PYTHON: whether a program of that Python is hooked by that command, seen from FOLDER.
hooks_python() {
  local program=/root/program run=/root/program/hooked.gpubound
  rm -rf "$fresh$program"
  mkdir -p "$fresh$program/gymnasium" "$fresh$program/gymnasium-1.2.0.dist-info"
  touch "$fresh$program/gymnasium/__init__.py"
  printf 'class Env:\n    def step(self, action): return action\n' > "$fresh$program/gymnasium/core.py"
  printf 'Metadata-Version: 2.1\nName: gymnasium\nVersion: 1.2.0\n' \
    > "$fresh$program/gymnasium-1.2.0.dist-info/METADATA"
  printf 'import gymnasium.core\nfor _ in range(5):\n    gymnasium.core.Env().step(1)\n' > "$fresh$program/program.py"
  inside "$1" "$2 run --no-calibrate -q -o $run -- $3 $program/program.py && $2 report $run" > "$work/hooked.out"
  grep -q '^simulation' "$work/hooked.out" || fail "$2 has not hooked $3: $(cat "$work/hooked.out")"
}
