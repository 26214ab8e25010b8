# SPDX-License-Identifier: Apache-2.0
"""`gpubound demo` of the Python package, with the program of a build. The package is on PYTHONPATH."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest


class DemoTest(unittest.TestCase):
    def demo(self, *words, folder):
        return subprocess.run([sys.executable, "-m", "gpubound", "demo", *words], cwd=folder, capture_output=True,
                              text=True, timeout=250, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})

    def test_trains_reports_and_writes_the_page_within_some_seconds(self):
        with tempfile.TemporaryDirectory() as folder:
            before = time.monotonic()
            done = self.demo("--simulated", "--no-open", "-o", "x.gpubound", folder=folder)
            took = time.monotonic() - before
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("SIMULATED DEVICE", done.stdout + done.stderr)
            self.assertIn("Mean iteration", done.stdout)
            self.assertTrue(pathlib.Path(folder, "x.gpubound", "report.html").is_file())
            self.assertLess(took, 120)  # 10 s on a busy machine

    def test_a_mistyped_option_is_wrong_use(self):
        self.assertEqual(self.demo("--nonsense", folder=".").returncode, 2)


if __name__ == "__main__":
    unittest.main()
