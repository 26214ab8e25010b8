#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves what README says of installing, on a fresh Debian 12 that has the packages that README names and no
# others: clean_root_install.sh SOURCE [WORKDIR]
#
# Clones the last commit of SOURCE into a path with a space and an umlaut, and there runs `pip install .` and the
# two lines of cmake. Needs root, debootstrap, Debian's archive and PyPI.
set -euo pipefail
. "$(dirname "$0")/fresh_root.sh"
make_fresh_root "$@"
clone="/root/a clöne/gpubound"
git clone -q --no-local "$source" "$fresh$clone"

packages=$(sed -n '/^    apt-get install /,/[^\\]$/p' "$source/README.md" | tr -d '\\\n')
[ -n "$packages" ] || fail "README.md has no line with apt-get install"
inside / "apt-get update -q && DEBIAN_FRONTEND=noninteractive $packages -q -y --no-install-recommends" >&2

echo "== pip install . in a fresh root" >&2
inside "$clone" "python3 -m venv /root/venv && /root/venv/bin/pip install ."  >&2
hooks_python / /root/venv/bin/gpubound /root/venv/bin/python
left=$(git -C "$fresh$clone" status --porcelain --ignored)
[ -z "$left" ] || fail "pip install left something in the clone: $left"

echo "== cmake in a fresh root" >&2
cmake=$(sed -n 's/.*(`\(cmake -G Ninja [^`]*\)`).*/\1/p' "$source/README.md")
[ -n "$cmake" ] || fail "README.md does not say how to build with cmake"
inside "$clone" "$cmake" >&2
hooks_python "$clone" build/release/bin/gpubound python3
echo "clean_root_install: pip and cmake work in a fresh Debian root" >&2
