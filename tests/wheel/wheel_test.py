# SPDX-License-Identifier: Apache-2.0
"""`pip install .` is a full installation: in a fresh environment, outside of the source tree, the command
records a program and reports its operations. Environment: GPUBOUND_TEST_SOURCE, and GPUBOUND_TEST_WHEEL
for a wheel that was built before."""
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest

SOURCE = os.environ["GPUBOUND_TEST_SOURCE"]
WHEEL = os.environ.get("GPUBOUND_TEST_WHEEL", SOURCE)

ANNOTATED = """
import gpubound
assert gpubound.recording()
for _ in range(3):
    with gpubound.operation("simulation"):
        sum(range(1000))
    gpubound.step()
"""
UNEDITED = """
import gymnasium.core
for _ in range(5):
    gymnasium.core.Env().step(1)
"""
GYMNASIUM = "class Env:\n    def step(self, action): return action\n"


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.bin = cls.folder / "environment" / "bin"
        cls.run_command(sys.executable, "-m", "venv", str(cls.folder / "environment"))
        cls.run_command(str(cls.bin / "pip"), "install", "--quiet", WHEEL)

    @classmethod
    def run_command(cls, *words):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GPUBOUND_", "PYTHONPATH"))}
        done = subprocess.run(words, cwd=cls.folder, env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{words} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def profile(self, program):
        """Name of the run's directory."""
        (self.folder / "program.py").write_text(program)
        run = str(self.folder / f"{self.id()}.gpubound")
        self.run_command(str(self.bin / "gpubound"), "run", "-q", "-o", run, "--",
                         str(self.bin / "python"), "program.py")
        return run

    def test_the_package_brings_command_libraries_and_hook_files(self):
        package = next((self.folder / "environment").glob("lib/python*/site-packages/gpubound"))
        hooks = {path.name for path in pathlib.Path(SOURCE).glob("annotate/python/gpubound/hooks/*")}
        self.assertEqual({path.name for path in (package / "hooks").iterdir()}, hooks)
        for name in ("bin/gpubound", "lib/libgpubound.so", "lib/libgpubound_core.so", "py.typed",
                     "startup/sitecustomize.py", "include/gpubound/annotate.h"):
            self.assertTrue((package / name).is_file(), name)
        self.assertEqual(len(list(package.glob("_core*.so"))), 1)

    def test_the_wheel_says_which_interpreters_it_serves(self):
        described = next((self.folder / "environment").glob(
            "lib/python*/site-packages/gpubound-*.dist-info/WHEEL"))
        tag = "cp%d%d" % sys.version_info[:2]
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            expected = f"{tag}-{tag}t"
        else:
            expected = f"{tag}-{tag}" if sys.version_info < (3, 12) else "cp312-abi3"
        self.assertRegex(described.read_text(), rf"\nTag: {expected}-")

    def test_an_annotated_program_is_recorded_and_reported(self):
        run = self.profile(ANNOTATED)
        self.assertRegex(self.run_command(str(self.bin / "gpubound"), "report", run), "simulation")
        report = json.loads(self.run_command(str(self.bin / "gpubound"), "report", run, "--json"))
        counts = {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}
        self.assertEqual(counts["simulation"], 3)

    def test_an_unedited_program_is_hooked(self):
        package = self.folder / "gymnasium"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "core.py").write_text(GYMNASIUM)
        described = self.folder / "gymnasium-1.2.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: gymnasium\nVersion: 1.2.0\n")
        run = self.profile(UNEDITED)
        self.assertRegex(self.run_command(str(self.bin / "gpubound"), "report", run), "simulation")

    def test_the_package_works_without_a_collector(self):
        self.run_command(str(self.bin / "python"), "-c",
                         "import gpubound\nassert not gpubound.recording()\n"
                         "with gpubound.operation('x'): pass")


if __name__ == "__main__":
    unittest.main()
