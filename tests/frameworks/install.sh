#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the virtual environment that the frameworks tests run in, once: install.sh PYTHON FOLDER [REQUIREMENTS]
set -euo pipefail
requirements=${3:-$(dirname "$0")/requirements.txt}
[ -f "$2/requirements.txt" ] && cmp -s "$requirements" "$2/requirements.txt" && exit 0
[ -x "$2/bin/python" ] || "$1" -m venv "$2"
"$2/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check -r "$requirements"
cp "$requirements" "$2/requirements.txt"
