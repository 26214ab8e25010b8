#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipe of Conan makes a package that the example builds with: conan_test.py SOURCE. Long, since it fetches
Conan; it takes seconds."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop())


class ConanTest(unittest.TestCase):
    def test_the_example_builds_with_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "CONAN_HOME": f"{folder}/home"}
            conan = f"{folder}/venv/bin/conan"
            for words in ([sys.executable, "-m", "venv", f"{folder}/venv"],
                          [f"{folder}/venv/bin/pip", "install", "--quiet", "conan==2.34.0"],
                          [conan, "profile", "detect"],
                          [conan, "create", f"{SOURCE}/tools/packaging/conan", "--no-remote",
                           "-c", f"tools.cmake.cmake_layout:test_folder={folder}/test"]):
                done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("\ntrained\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
