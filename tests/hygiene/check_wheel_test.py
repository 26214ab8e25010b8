# SPDX-License-Identifier: Apache-2.0
"""What tools/packaging/check_wheel.py finds wrong with a wheel: check_wheel_test.py SCRIPT."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SCRIPT = sys.argv.pop(1)
specification = importlib.util.spec_from_file_location("check_wheel", SCRIPT)
check_wheel = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_wheel)
COMPILER = os.environ.get("CC") or shutil.which("cc") or "gcc"


class CheckWheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.files = {name: b"" for name in check_wheel.FILES}
        self.files["lib/libgpubound_engine.so"] = b"before " + check_wheel.PAGE

    def library(self, source, *options):
        (self.folder / "source.c").write_text(source)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", "library.so", "source.c", *options], cwd=self.folder,
                       check=True)
        return (self.folder / "library.so").read_bytes()

    def faults(self, extensions=()):
        wheel = self.folder / "a.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, content in self.files.items():
                archive.writestr(f"gpubound/{name}", content)
        return list(check_wheel.faults(wheel, extensions))

    def expect(self, *faults, extensions=()):
        self.assertEqual(self.faults(extensions), list(faults))

    def test_a_wheel_with_all_of_it_is_right(self):
        self.files["lib/libgpubound.so"] = self.library("#include <stdlib.h>\nvoid f(void) { abort(); }\n")
        self.expect()

    def test_a_missing_file_is_named(self):
        del self.files["demo/cartpole_ppo"]
        self.expect("gpubound/demo/cartpole_ppo is missing", "gpubound/_core.abi3.so is missing",
                    extensions=["_core.abi3.so"])

    def test_a_wheel_without_the_page_is_refused(self):
        self.files["lib/libgpubound_engine.so"] = b""
        self.expect("gpubound/lib/libgpubound_engine.so has no report page")

    def test_a_library_of_the_system_is_refused(self):
        self.files["lib/libgpubound.so"] = self.library("int f(void) { return 0; }\n", "-Wl,--no-as-needed",
                                                        "-lstdc++")
        self.expect("gpubound/lib/libgpubound.so needs libstdc++.so.6, which is neither glibc's nor in the wheel")

    def test_a_library_of_the_wheel_is_taken(self):
        beside = self.library("int g(void) { return 0; }\n", "-Wl,-soname,libbeside.so")
        self.files["lib/libbeside.so"] = beside
        (self.folder / "libbeside.so").write_bytes(beside)
        self.files["lib/libgpubound.so"] = self.library("int g(void);\nint f(void) { return g(); }\n", "-L.",
                                                        "-lbeside")
        self.expect()

    def test_a_symbol_that_nothing_defines_is_refused(self):
        self.files["lib/libgpubound.so"] = self.library("int of_nobody(void);\nint f(void) { return of_nobody(); }\n")
        self.expect("gpubound/lib/libgpubound.so lacks of_nobody, which nothing defines")

    def test_what_python_has_is_lacking_in_an_extension_alone(self):
        library = self.library("int PyLong_Type(void);\nint f(void) { return PyLong_Type(); }\n")
        self.files["_core.abi3.so"] = self.files["lib/libgpubound.so"] = library
        self.expect("gpubound/lib/libgpubound.so lacks PyLong_Type, which nothing defines")

    def test_a_large_wheel_is_refused(self):
        self.files["lib/large"] = b" " * (check_wheel.LIMIT + 1)
        fault, = self.faults()
        self.assertRegex(fault, r"^it has \d+ bytes, at most 12000000$")


if __name__ == "__main__":
    unittest.main()
