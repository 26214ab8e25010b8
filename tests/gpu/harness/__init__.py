# SPDX-License-Identifier: Apache-2.0
"""What every part of run_all uses: the machine, recordings made on it, and verdicts on them."""
