#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds check_network.py libraries that do and that do not: check_network_test.py CHECKER"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = sys.argv.pop(1)


class CheckNetwork(unittest.TestCase):
    def check(self, source):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "library.so"
            subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=source, text=True,
                           check=True)
            result = subprocess.run([sys.executable, CHECKER, library], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout

    def test_a_library_that_connects_is_named(self):
        status, text = self.check("int connect(int, const void*, unsigned);\nint f(void) { return connect(3, 0, 0); }")
        self.assertEqual(status, 1)
        self.assertIn("library.so: refers to connect", text)

    def test_a_pair_of_ends_within_the_program_is_no_connection(self):
        source = "int socketpair(int, int, int, int*);\nint f(int* ends) { return socketpair(1, 1, 0, ends); }"
        self.assertEqual(self.check(source), (0, ""))

    def test_nothing_to_look_at_is_a_mistake(self):
        self.assertEqual(subprocess.run([sys.executable, CHECKER], check=False).returncode, 1)


if __name__ == "__main__":
    unittest.main()
