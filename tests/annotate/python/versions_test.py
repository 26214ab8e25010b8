# SPDX-License-Identifier: Apache-2.0
"""Versions: of libraries, and the conditions of hook files."""
import pathlib
import sys
import tempfile
import types
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
        module = types.ModuleType("sample.core")
        self.assertEqual(_hooks.Library(description)._find_version(module), "1.2")
        description["distributions"].reverse()
        self.assertEqual(_hooks.Library(description)._find_version(module), "1.2")


class CheckoutTest(unittest.TestCase):
    """A package that lies on PYTHONPATH and is no distribution."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.package = types.ModuleType("checkout")
        self.package.__file__ = str(self.folder / "__init__.py")
        unittest.mock.patch.dict(sys.modules, checkout=self.package).start()
        self.addCleanup(unittest.mock.patch.stopall)

    def test_the_package_says_its_version(self):
        self.package.__version__ = "1.3"
        self.assertEqual(_versions.find(["checkout"], "checkout"), "1.3")

    def test_a_version_that_the_package_has_not_set_yet_is_in_its_source(self):
        for name, text in (("version.py", "import sys\n__version__: str = '1.5'\n"),
                           ("__init__.py", "# __version__ = '0'\n__version__ = \"1.4\"\n")):
            (self.folder / name).write_text(text)
            self.assertEqual(_versions.find(["checkout"], "checkout"), text.splitlines()[1][-4:-1])

    def test_a_package_of_unknown_version_is_looked_at_and_noted_once(self):
        library = _hooks.Library({"library": "checkout", "versions": ">=1", "hooks": []})
        with self.assertRaisesRegex(LookupError, "no version of checkout is known: no distribution "
                                                 "checkout is installed, and it has no __version__"):
            library.install(types.ModuleType("checkout.core"))
        library.install(types.ModuleType("checkout.more"))


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
