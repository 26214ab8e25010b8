#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds check_exports.py libraries that break each rule: exports_checker_test.py CHECKER"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = sys.argv.pop(1)
GOOD_FLAGS = ["-Wl,-z,nodelete", "-Wl,-z,now"]
SOURCE = "int puts(const char*);\nint wanted(void) { return puts(\"\"); }\nstatic int hidden(void) { return 2; }\n" \
         "int other(void) { return hidden(); }\n"


class CheckExports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = pathlib.Path(folder.name) / "library.so"

    def build(self, source=SOURCE, flags=None, compiler="gcc", language="c"):
        subprocess.run([compiler, "-shared", "-fPIC", "-x", language, "-o", self.library, "-",
                        "-x", "none", *(GOOD_FLAGS if flags is None else flags)], input=source,
                       text=True, check=True)

    def check(self, *more, exports=("wanted", "other"), needed=("libc.so.6",)):
        result = subprocess.run([sys.executable, CHECKER, self.library, "--exports", *exports,
                                 "--needed", *needed, *more], capture_output=True, text=True,
                                check=False)
        return result.returncode, result.stdout

    def assert_deviation(self, words, outcome):
        status, text = outcome
        self.assertEqual(status, 1)
        self.assertIn(words, text)

    def test_a_library_as_expected_passes(self):
        self.build()
        self.assertEqual(self.check(), (0, ""))

    def test_an_export_too_many_is_named(self):
        self.build()
        self.assert_deviation("exports other", self.check(exports=["wanted"]))

    def test_an_export_too_many_may_be_allowed(self):
        self.build()
        self.assertEqual(self.check("--may-export", "other", exports=["wanted"])[0], 0)

    def test_a_missing_export_is_named(self):
        self.build()
        self.assert_deviation("does not export absent",
                              self.check(exports=["wanted", "other", "absent"]))

    def test_a_library_too_many_is_named(self):
        self.build(flags=GOOD_FLAGS + ["-Wl,--no-as-needed", "-lm"])
        self.assert_deviation("needs libm.so.6", self.check())
        self.assertEqual(self.check("--may-need", "libm.so.6")[0], 0)

    def test_an_unloadable_library_is_refused(self):
        self.build(flags=["-Wl,-z,now"])
        self.assert_deviation("nodelete", self.check())

    def test_lazy_binding_is_refused(self):
        self.build(flags=["-Wl,-z,nodelete", "-Wl,-z,lazy"])
        self.assert_deviation("lazily", self.check())

    def test_an_executable_stack_is_refused(self):
        self.build(flags=GOOD_FLAGS + ["-Wl,-z,execstack"])
        self.assert_deviation("executable stack", self.check())

    def test_a_thread_local_variable_that_does_not_begin_as_zero_is_refused(self):
        loader = ("--may-need", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")
        self.build(SOURCE + "__thread int none;\nint *at(void) { return &none; }\n")
        self.assertEqual(self.check("--may-export", "none", "at", *loader)[0], 0)
        self.build(SOURCE + "__thread int one = 1;\nint *at(void) { return &one; }\n")
        self.assert_deviation("do not begin as zero", self.check("--may-export", "one", "at", *loader))

    def test_a_library_too_large_is_refused(self):
        self.build()
        self.assert_deviation("at most 100", self.check("--max-bytes", "100"))

    def test_unique_binding_is_refused(self):
        source = "inline int* wanted() { static int once; return &once; }\n" \
                 "int* other() { return wanted(); }\n"
        self.build(source, compiler="g++", language="c++")
        self.assert_deviation("unique binding", self.check(exports=["_Z5otherv", "_Z6wantedv"],
                                                           needed=["libc.so.6", "libstdc++.so.6"]))


if __name__ == "__main__":
    unittest.main()
