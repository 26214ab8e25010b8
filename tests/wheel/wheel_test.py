# SPDX-License-Identifier: Apache-2.0
"""`pip install .` is a full installation: in a fresh environment, outside of the source tree, the command
records a program and reports its operations. Environment: GPUBOUND_TEST_SOURCE, GPUBOUND_TEST_WHEEL for a wheel
that was built before, GPUBOUND_TEST_UV=1 to install by uv, and GPUBOUND_TEST_OTHERS, other interpreters whose
programs the same installation hooks."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

SOURCE = os.environ["GPUBOUND_TEST_SOURCE"]
WHEEL = os.environ.get("GPUBOUND_TEST_WHEEL")
BY_UV = os.environ.get("GPUBOUND_TEST_UV") == "1"
OTHERS = [other for other in os.environ.get("GPUBOUND_TEST_OTHERS", "").split(os.pathsep) if other]

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
        wheel = WHEEL or cls.copy_source(cls.folder / "a clöne" / "gpubound")
        if BY_UV:
            cls.run_command(str(cls.bin / "pip"), "install", "--quiet", "uv")
            cls.run_command(str(cls.bin / "uv"), "pip", "install", "--quiet", "--python", str(cls.bin / "python"),
                            wheel)
        else:
            cls.run_command(str(cls.bin / "pip"), "install", "--quiet", wheel)

    @classmethod
    def copy_source(cls, folder):
        """What git knows of: a checkout as it was before anything was built in it."""
        listed = cls.run_command("git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            if os.path.isfile(os.path.join(SOURCE, name)):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.join(SOURCE, name), folder / name)
        return str(folder)

    @classmethod
    def run_command(cls, *words):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GPUBOUND_", "PYTHONPATH"))}
        done = subprocess.run(words, cwd=cls.folder, env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{words} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def profile(self, program, python=None):
        """Name of the run's directory; the environment's own interpreter where none is given."""
        (self.folder / "program.py").write_text(program)
        run = str(self.folder / f"{self.id()}.gpubound")
        self.run_command(str(self.bin / "gpubound"), "run", "-q", "-o", run, "--",
                         python or str(self.bin / "python"), "program.py")
        return run

    def put_gymnasium(self):
        """A stand-in beside the program."""
        package = self.folder / "gymnasium"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("")
        (package / "core.py").write_text(GYMNASIUM)
        described = self.folder / "gymnasium-1.2.0.dist-info"
        described.mkdir(exist_ok=True)
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: gymnasium\nVersion: 1.2.0\n")

    def test_the_package_brings_command_libraries_and_hook_files(self):
        package = next((self.folder / "environment").glob("lib/python*/site-packages/gpubound"))
        hooks = {path.name for path in pathlib.Path(SOURCE).glob("annotate/python/gpubound/hooks/*")}
        self.assertEqual({path.name for path in (package / "hooks").iterdir()}, hooks)
        for name in ("bin/gpubound", "lib/libgpubound.so", "lib/libgpubound_core.so", "py.typed",
                     "startup/sitecustomize.py", "include/gpubound/annotate.h"):
            self.assertTrue((package / name).is_file(), name)
        is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
        self.assertEqual((package / "_core.abi3.so").is_file(), not is_free_threaded)
        self.assertEqual((package / "_reader.abi3.so").is_file(), not is_free_threaded)
        own = package / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))
        self.assertEqual(own.is_file(), is_free_threaded or sys.version_info < (3, 12))

    def test_the_version_is_that_of_the_source_wherever_it_is_said(self):
        project = pathlib.Path(SOURCE, "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"project\(gpubound VERSION ([0-9.]+)", project).group(1)
        self.assertEqual(self.run_command(str(self.bin / "gpubound"), "--version").split()[-1], version)
        self.assertEqual(self.run_command(
            str(self.bin / "python"), "-c", "import gpubound\nfrom importlib import metadata\n"
            "print(gpubound.__version__, metadata.version('gpubound'))"), f"{version} {version}\n")

    def test_the_wheel_says_which_interpreters_it_serves(self):
        described = next((self.folder / "environment").glob(
            "lib/python*/site-packages/gpubound-*.dist-info/WHEEL"))
        tag = "cp%d%d" % sys.version_info[:2]
        expected = f"{tag}-{tag}t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "cp39-abi3"
        self.assertRegex(described.read_text(), rf"\nTag: {expected}-")

    def test_an_annotated_program_is_recorded_and_reported(self):
        run = self.profile(ANNOTATED)
        self.assertRegex(self.run_command(str(self.bin / "gpubound"), "report", run), "simulation")
        report = json.loads(self.run_command(str(self.bin / "gpubound"), "report", run, "--json"))
        counts = {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}
        self.assertEqual(counts["simulation"], 3)

    def test_the_demo_needs_nothing_else(self):
        shown = self.run_command(str(self.bin / "gpubound"), "demo", "--simulated", "--no-open", "-o", "demo.gpubound")
        self.assertIn("backpropagation", shown)
        self.assertTrue((self.folder / "demo.gpubound" / "report.html").is_file())

    def test_a_run_is_read_from_python(self):
        run = self.profile(ANNOTATED)
        self.assertIn("simulation", self.run_command(
            str(self.bin / "python"), "-c", f"import gpubound; print(gpubound.open({run!r}).operations.rows())"))

    def test_an_unedited_program_is_hooked(self):
        self.put_gymnasium()
        run = self.profile(UNEDITED)
        self.assertRegex(self.run_command(str(self.bin / "gpubound"), "report", run), "simulation")

    @unittest.skipUnless(OTHERS, "no other interpreter was configured (GPUBOUND_PYTHONS)")
    def test_a_program_of_another_version_is_hooked_too(self):
        self.put_gymnasium()
        for other in OTHERS:
            with self.subTest(other):
                run = self.profile(UNEDITED, other)
                report = json.loads(self.run_command(str(self.bin / "gpubound"), "report", run, "--json"))
                counts = {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}
                self.assertEqual(counts["simulation"], 5)
                self.assertRegex(report["run"]["verdict"], "^complete")
                shutil.rmtree(run)

    def test_the_package_works_without_a_collector(self):
        self.run_command(str(self.bin / "python"), "-c",
                         "import gpubound\nassert not gpubound.recording()\n"
                         "with gpubound.operation('x'): pass")


if __name__ == "__main__":
    unittest.main()
