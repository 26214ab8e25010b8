#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user's `cmake` asks for and where it writes: configure_test.py SOURCE.

Nothing is built and nothing fetched: CUDA's headers are there as an installed Python package has them, which is
how a build of the wheel gets them too.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
HEADERS = ("cuda_runtime_api.h", "cupti.h", "crt/host_defines.h", "nvtx3/nvToolsExt.h")
OF_TESTS = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in ("GTest", "benchmark", "Protobuf")]


def copy_of_source(folder):
    """What git knows of, without what a build has left."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                            capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (SOURCE / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, folder / name)
    return folder


def put_headers(folder):
    """As pip installs them there."""
    for header in HEADERS:
        path = folder / "nvidia/cu13/include" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


class ConfigureTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.build = self.folder / "build"
        put_headers(self.folder / "packages")

    def configure(self, source, *options, status=0):
        """What cmake says."""
        done = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", source, "-B", self.build, f"-DPython3_EXECUTABLE={sys.executable}",
             "-DGPUBOUND_TOOLKIT_INCLUDE=", "-DGPUBOUND_PAGE=OFF", *options],
            env={**os.environ, "PYTHONPATH": str(self.folder / "packages"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def commands(self):
        """Of the compiler, for all files."""
        with open(self.build / "compile_commands.json", encoding="utf-8") as file:
            return [entry["command"] for entry in json.load(file)]

    def test_a_users_build_needs_no_package_of_the_tests_and_treats_no_warning_as_an_error(self):
        self.configure(SOURCE, *OF_TESTS)
        self.assertFalse([command for command in self.commands() if "-Werror" in command])
        self.assertFalse([command for command in self.commands() if "/tests/" in command])

    def test_flags_that_a_user_chose_are_those_of_the_build(self):
        self.configure(SOURCE, "-DCMAKE_CXX_FLAGS=-DUSERS_OWN", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O3 -g3")
        ours = [command for command in self.commands() if "/analysis/" in command]
        self.assertTrue(ours)
        for command in ours:
            self.assertRegex(command, " -DUSERS_OWN .*-O3 -g3 ")
            self.assertNotIn(" -O2 ", command)

    def test_warnings_are_errors_where_that_is_asked_for(self):
        self.configure(SOURCE, "-DGPUBOUND_WERROR=ON")
        self.assertTrue(all("-Werror" in command for command in self.commands()))

    def test_nothing_is_written_beside_the_sources(self):
        source = copy_of_source(self.folder / "a source ä")
        before = sorted(source.rglob("*"))
        self.configure(source)
        self.assertEqual(sorted(source.rglob("*")), before)

    def test_an_install_of_what_is_not_built_yet_names_it(self):
        self.configure(SOURCE)
        done = subprocess.run(["cmake", "--install", self.build, "--prefix", self.folder / "prefix"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, target in (("gpubound", "gpubound"), ("libgpubound_core.so", "gpubound_core")):
            self.assertIn(f"{name} is not installed: it was not built.", " ".join(done.stderr.split()))
            self.assertIn(f"--target {target}", " ".join(done.stderr.split()))
        self.assertTrue((self.folder / "prefix/include/gpubound/annotate.h").exists())

    def test_a_part_of_the_build_needs_no_python(self):
        self.configure(SOURCE, "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON",
                       f"-DGPUBOUND_CUDA_INCLUDE_DIR={self.folder}/packages/nvidia/cu13/include")

    def test_headers_come_from_the_packages_that_the_interpreter_sees(self):
        self.assertIn(f"CUDA headers: {self.folder}/packages/nvidia/cu13/include", self.configure(SOURCE))

    def test_a_package_of_cuda_alone_is_not_taken_for_all_headers(self):
        (self.folder / "packages/nvidia/cu13/include/cupti.h").unlink()
        downloads = self.folder / "downloads"
        put_headers(downloads)
        shutil.move(downloads / "nvidia/cu13", downloads / "third_party/cuda")
        said = self.configure(SOURCE, f"-DGPUBOUND_DOWNLOADS={downloads}")
        self.assertIn(f"CUDA headers: {downloads}/third_party/cuda/include", said)


class FetchTest(unittest.TestCase):
    """cuda_headers.py where no pip can be imported, as in the isolation in which wheels are built."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        (self.folder / "bin").mkdir()

    def installer(self, name, script):
        path = self.folder / "bin" / name
        path.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{script}")
        path.chmod(0o755)

    def fetch(self):
        return subprocess.run(
            [self.folder / "venv/bin/python", SOURCE / "cmake/cuda_headers.py", self.folder / "headers"],
            env={"PATH": str(self.folder / "bin")}, capture_output=True, text=True, check=False)

    def test_an_installer_on_the_path_serves(self):
        for name in ("pip3", "uv"):
            self.installer(name, "folder = pathlib.Path(sys.argv[sys.argv.index('--target') + 1])\n"
                                 f"for header in {HEADERS}:\n"
                                 "    path = folder / 'nvidia/cu13/include' / header\n"
                                 "    path.parent.mkdir(parents=True, exist_ok=True)\n"
                                 "    path.write_text(' '.join(sys.argv))\n")
            done = self.fetch()
            self.assertEqual((done.returncode, done.stdout), (0, f"{self.folder}/headers/include\n"), done.stderr)
            said = (self.folder / "headers/include/cupti.h").read_text()
            self.assertRegex(said, r" nvidia-cuda-runtime==\S+ nvidia-cuda-cupti==\S+ nvidia-cuda-crt==\S+ "
                                   r"nvidia-nvtx==")
            shutil.rmtree(self.folder / "headers")
            (self.folder / "bin" / name).unlink()

    def test_what_each_installer_said_is_passed_on_if_none_could(self):
        self.installer("pip", "print('no route to the index')\nsys.exit(1)\n")
        done = self.fetch()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No module named pip", done.stderr)
        self.assertIn("pip install --disable-pip-version-check --no-compile: no route to the index", done.stderr)


if __name__ == "__main__":
    unittest.main()
