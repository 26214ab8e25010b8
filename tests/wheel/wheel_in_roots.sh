#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves that a wheel is an installation by itself: wheel_in_roots.sh FOLDER [WORKDIR [SUITE ...]]
#
# In a fresh root of each of Debian 11, 12 and 13 with Python and no compiler, installs the wheel that lies in FOLDER
# by pip and by uv, without an index, and uses it. Needs root, debootstrap, Debian's archive, and PyPI for uv. Roots
# in WORKDIR are kept, and taken again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../hygiene/fresh_root.sh"
wheels=$(cd "$1" && pwd)
work_folder=${2-}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- bullseye bookworm trixie
[ -n "$(ls "$wheels"/*.whl)" ] || fail "no wheel is in $wheels"

# use BIN: what a user does first, with the commands of that environment.
use() {
  local bin=$1 place=/root/use
  rm -rf "${fresh:?}$place"
  mkdir -p "$fresh$place"
  cp "$here/train.py" "$here/check_report.py" "$fresh$place/"
  inside "$place" "$bin/gpubound doctor" > "$work/doctor.out" || fail "gpubound doctor: $(cat "$work/doctor.out")"
  inside "$place" "$bin/gpubound run -q --no-calibrate -o train.gpubound -- $bin/python train.py" \
    > "$work/run.out" || fail "gpubound run: $(cat "$work/run.out")"
  inside "$place" "$bin/gpubound report" > "$work/report.out" || fail "gpubound report: $(cat "$work/report.out")"
  grep -q '^simulation' "$work/report.out" || fail "the report has no row for simulation: $(cat "$work/report.out")"
  inside "$place" "$bin/gpubound report --json > report.json && $bin/gpubound report --html report.html \
    && $bin/python check_report.py report.json report.html" >&2 || fail "the report is not of train.py"
  inside "$place" "$bin/python -c 'import gpubound; print(gpubound.open(\"train.gpubound\").operations.rows())'" \
    | grep -q simulation || fail "the run cannot be read from Python"
  inside "$place" "$bin/gpubound demo --simulated --no-open -o demo.gpubound" > "$work/demo.out" ||
    fail "gpubound demo: $(cat "$work/demo.out")"
  grep -q backpropagation "$work/demo.out" || fail "the demo has no backpropagation: $(cat "$work/demo.out")"
  [ -s "$fresh$place/demo.gpubound/report.html" ] || fail "the demo wrote no page"
}

try_suite() {
  local suite=$1 packages=ca-certificates,python3,python3-venv
  make_fresh_root "$here" "${work_folder:+$work_folder/$suite}"
  ! inside / "command -v cc gcc g++ clang" >&2 || fail "the root of $suite has a compiler"
  rm -rf "$fresh/wheels" "$fresh/root/by_pip" "$fresh/root/by_uv"
  cp -r "$wheels" "$fresh/wheels"
  echo "== $suite, pip: $(inside / 'python3 --version; ldd --version | head -n 1' | tr '\n' ' ')" >&2
  inside / "python3 -m venv /root/by_pip && /root/by_pip/bin/pip install -q --no-index --find-links /wheels gpubound" >&2
  use /root/by_pip/bin
  echo "== $suite, uv" >&2
  inside / "python3 -m venv /root/by_uv && /root/by_uv/bin/pip install -q uv==0.13.8 \
    && /root/by_uv/bin/uv pip install -q --python /root/by_uv/bin/python --no-index --find-links /wheels gpubound" >&2
  use /root/by_uv/bin
}

for suite in "$@"; do
  (try_suite "$suite")
done
echo "wheel_in_roots: the wheel works on $*" >&2
