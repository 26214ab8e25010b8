#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# in_browser.sh ROOT MODULES TEST: fetches the npm packages that tests of the page need into MODULES,
# unless they are there, and runs TEST under node's test runner; TEST "types" checks the page's
# sources with the TypeScript compiler instead.
set -euo pipefail
root=$1 modules=$2 test=$3
PATH=$PATH:$root/build/venv/bin

command -v npm >/dev/null || {
  echo "in_browser.sh: no npm here; tools/test installs it (Debian: apt-get install npm)" >&2
  exit 1
}
mkdir -p "$modules"
if ! cmp -s "$root/tools/page/package-lock.json" "$modules/fetched.json"; then
  cp "$root/tools/page/package.json" "$root/tools/page/package-lock.json" "$modules"
  (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$root/tools/page/package-lock.json" "$modules/fetched.json"
fi

if [ "$test" = types ]; then
  rm -rf "$modules/src"
  cp -r "$root/tools/page/src" "$root/tools/page/tsconfig.json" "$modules"
  cd "$modules"
  exec node_modules/.bin/tsc --noEmit
fi
GPUBOUND_PAGE_MODULES=$modules exec node --test --test-reporter=spec "$test"
