#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the package's tests on PYTHON, one of 3.9 to 3.11, with the extension for the stable ABI that a later version
# built: the headers of 3.12 and later take None for immortal. later_headers.sh SOURCE PYTHON [LATER...]
#
# The first of LATER and the PATH that is such a version and has headers serves. Where none does, 3.13 is built from
# Debian's source, which needs Debian's archive and takes ten minutes once.
set -euo pipefail
source=$(cd "$1" && pwd)
python=$2
later=
for candidate in "${@:3}" python3.14 python3.13 python3.12; do
  facts=$("$candidate" "$source/annotate/python/describe_interpreter.py" 2>/dev/null) || continue
  IFS=';' read -r headers _ stable_abi _ <<<"$facts"
  if [ "$stable_abi" = alone ] && [ -e "$headers/Python.h" ]; then
    later=$candidate
    break
  fi
done
[ -n "$later" ] || later=$("$source/tools/dev/build_python.sh" "$source/build/python3.13" 3.13)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The first interpreter's headers are those of the shared extension.
cmake -G Ninja -S "$source" -B "$work" -DGPUBOUND_DOWNLOADS="$source/build" -DGPUBOUND_BUILD_TESTS=ON \
  -DGPUBOUND_BUILD_BENCH=OFF "-DGPUBOUND_PYTHONS=$later;$python" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work" --target gpubound_python gpubound_python_stable annotate_recorded_calls
echo "== $("$python" --version) with the extension that $("$later" --version) built"
ctest --test-dir "$work" --output-on-failure --no-tests=error -R '^annotate_python_.*_stable_'
