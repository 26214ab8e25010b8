# SPDX-License-Identifier: Apache-2.0
"""One module for each part of run_all: TITLE, and run(verdict, machine)."""
