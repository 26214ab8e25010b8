# SPDX-License-Identifier: Apache-2.0
"""What the collector is told by a short program of its own that knows nothing of gpubound, for tests.

Environment: GPUBOUND_LIBRARY, GPUBOUND_TEST_PACKAGE (the folder of gpubound) and GPUBOUND_TEST_RECORDED
(that of recorded.py)."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import stand_ins

PACKAGE = pathlib.Path(os.environ["GPUBOUND_TEST_PACKAGE"]) / "gpubound"
RECORDED = os.environ["GPUBOUND_TEST_RECORDED"]


class LibraryTest(unittest.TestCase):
    def told(self, program, *path):
        """What the collector is told by `program`, with the folders of `path` to import from."""
        text = (f"{program}\nimport atexit, sys\nsys.path.append({RECORDED!r})\nimport recorded\n"
                "from gpubound import _loop\n_loop._finish(); _loop.end_iterations()\n"
                "print('TOLD', *recorded.take(), sep='\\n')\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
            map(str, [PACKAGE / "startup", *path])), "OMP_NUM_THREADS": "1", "MUJOCO_GL": "disabled",
            "JAX_PLATFORMS": "cpu", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", text], env=environment,
                              capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        calls = done.stdout.partition("TOLD\n")[2].splitlines()
        self.assertEqual([call for call in calls if "hooks_failed" in call], [])
        return calls

    def stand_in(self, name):
        """A folder with the stand-in of the package `name`, as long as the test runs."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return stand_ins.make(pathlib.Path(folder.name), name)

    def count(self, calls, what):
        return sum(call == f"begin {what}" for call in calls)

    def order(self, calls):
        """Names of the operations in the order of their begin, once each."""
        return list(dict.fromkeys(call[len("begin operation "):] for call in calls
                                  if call.startswith("begin operation ")))

    def steps(self, calls):
        return sum(call.startswith("step ") for call in calls)
