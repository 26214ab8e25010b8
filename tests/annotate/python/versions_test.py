# SPDX-License-Identifier: Apache-2.0
"""Versions: of libraries, and the conditions of hook files."""
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

from gpubound import _hooks, _versions


class DistributionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        described = pathlib.Path(folder.name) / "installed-1.2.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Name: installed\nVersion: 1.2\n")
        unittest.mock.patch.object(sys, "path", [folder.name, *sys.path]).start()
        self.addCleanup(unittest.mock.patch.stopall)

    def test_a_version_is_that_of_whichever_distribution_is_installed(self):
        description = {"library": "sample", "versions": ">=1", "hooks": [],
                       "distributions": ["no-such-distribution", "installed"]}
        self.assertEqual(_hooks.Library(description)._find_version(), "1.2")
        description["distributions"].reverse()
        self.assertEqual(_hooks.Library(description)._find_version(), "1.2")


class VersionTest(unittest.TestCase):
    def test_every_condition_must_hold(self):
        self.assertTrue(_versions.is_within("1.2.0", ">=0.26,<2"))
        self.assertFalse(_versions.is_within("2.0", ">=0.26,<2"))
        self.assertFalse(_versions.is_within("0.25.9", ">=0.26,<2"))

    def test_numbers_are_compared_as_numbers(self):
        self.assertTrue(_versions.is_within("2.10", ">2.9"))
        self.assertTrue(_versions.is_within("2", "==2.0.0"))
        self.assertTrue(_versions.is_within("2.8.0+cpu", "<=2.8"))

    def test_what_is_no_version_is_below_all(self):
        self.assertFalse(_versions.is_within("unknown", ">=0.1"))

    def test_a_condition_that_is_not_understood_is_named(self):
        with self.assertRaisesRegex(ValueError, "'~=2'"):
            _versions.is_within("2", "~=2")


if __name__ == "__main__":
    unittest.main()
