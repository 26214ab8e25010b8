# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR
  "No Python extension was built, so what tests/annotate, tests/integration, tests/frameworks and "
  "tests/wheel have of Python was left out: Python.h is missing. Install it (Debian: apt install "
  "python3-dev) and configure again.")
