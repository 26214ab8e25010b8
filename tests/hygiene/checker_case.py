# SPDX-License-Identifier: Apache-2.0
"""A small tree of sources, and what a checker of sources says of it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = sys.argv.pop(1)  # first argument of each of these tests


class CheckerCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def check(self):
        result = subprocess.run([sys.executable, CHECKER, str(self.root)], text=True,
                                capture_output=True, check=False)
        return result.returncode, result.stdout
