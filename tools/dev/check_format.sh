#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fails when a source file is not formatted as .clang-format says: check_format.sh [--fix] ROOT
set -euo pipefail
mode=(--dry-run --Werror)
if [ "${1-}" = --fix ]; then
  mode=(-i)
  shift
fi
cd "${1:-$(dirname "$0")/../..}"
formatter=$(command -v clang-format-16) || {
  echo "check_format: clang-format-16 is missing; install the package clang-format-16" >&2
  exit 1
}
find proto annotate libprofiler cupti_hooks analysis tools tests bench examples \
  \( -name '*.h' -o -name '*.hpp' -o -name '*.cc' -o -name '*.c' -o -name '*.cu' -o -name '*.ts' \
     -o -name '*.mjs' \) -print0 |
  xargs -0 "$formatter" "${mode[@]}"
