#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves the README's two commands on a fresh Debian 12: clean_root.sh SOURCE [WORKDIR]
#
# Makes a minimal root with debootstrap, clones the last commit of SOURCE into it, and runs
# ./tools/demo and ./tools/test there. Needs root, debootstrap and Debian's archive.
set -euo pipefail
. "$(dirname "$0")/fresh_root.sh"
make_fresh_root "$@"
clone=/root/gpubound
git clone -q --no-local "$source" "$fresh$clone"

echo "== ./tools/demo in a fresh root" >&2
inside "$clone" ./tools/demo | tee "$work/demo.out"
grep -q 'SIMULATED DEVICE' "$work/demo.out" || fail "the demo's output does not say SIMULATED DEVICE"
grep -q 'simulation' "$work/demo.out" || fail "the demo's report has no row for simulation"
grep -q 'profiling cost' "$work/demo.out" || fail "the demo's report is not a corrected one"
for word in trace report page; do
  printed=$(sed -n "s/^$word: *\([^ ]*\).*/\1/p" "$work/demo.out")
  [ -n "$printed" ] && [ -s "$fresh$printed" ] ||
    fail "the demo printed no path of its $word, or nothing is there: '$printed'"
done
hooks_python "$clone" build/release/bin/gpubound python3
echo "== ./tools/test in a fresh root" >&2
inside "$clone" ./tools/test | tee "$work/test.out" | tail -n 40
grep -q '^100% tests passed' "$work/test.out" || fail "./tools/test did not pass in the fresh root"
echo "clean_root: both commands work in a fresh Debian root" >&2
