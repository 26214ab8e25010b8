#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/demo and tools/test do as an ordinary user, or offline: setup_test.py SOURCE.

Commands of the system are replaced by stand-ins in a folder of their own, which is all of PATH.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
TOOLS = "bash env cat dirname nproc cmake ninja cc c++ uname ld as ar ranlib nm strip".split()


class Setup(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "gpubound"
        self.bin = pathlib.Path(scratch.name) / "bin"
        self.bin.mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            self.assertIsNotNone(found, name)
            (self.bin / name).symlink_to(found)
        # Not what PATH says: a version manager's is a script that needs its own PATH.
        (self.bin / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        self.command("dpkg-query", '[ "${@: -1}" = present ] && printf "install ok installed"')
        self.command("id", "echo 0")
        for folder in ("cmake", "tools"):
            shutil.copytree(SOURCE / folder, self.root / folder)
        for file in ("CMakeLists.txt", "pyproject.toml"):
            shutil.copy(SOURCE / file, self.root)

    def command(self, name, script):
        target = self.bin / name
        target.unlink(missing_ok=True)
        target.write_text(f"#!/bin/bash\n{script}\n")
        target.chmod(0o755)

    def setup_script(self, script, **environment):
        result = subprocess.run(
            [self.bin / "bash", "-euo", "pipefail", "-c", f". tools/dev/setup.sh; {script}"],
            cwd=self.root, text=True, capture_output=True, check=False,
            env={"PATH": str(self.bin), "HOME": str(self.root), "PIP_NO_INDEX": "1", **environment})
        return result.returncode, result.stdout, result.stderr

    def test_asks_for_nothing_when_everything_is_installed(self):
        self.command("apt-get", "echo called")
        self.assertEqual(self.setup_script("install_packages present present"), (0, "", ""))

    def test_root_installs_what_is_missing_and_nothing_else(self):
        self.command("apt-get", 'echo "apt-get $*"')
        status, out, err = self.setup_script("install_packages present missing-a missing-b")
        self.assertEqual((status, out), (0, ""))
        self.assertIn("apt-get update -q\n", err)
        self.assertIn("apt-get install -q -y --no-install-recommends missing-a missing-b\n", err)

    def test_without_a_network_the_missing_packages_are_named(self):
        self.command("apt-get", "exit 100")
        status, _, err = self.setup_script("install_packages missing-a present missing-b; echo on >&2")
        self.assertEqual(status, 0)
        self.assertIn("going on with what is installed. Missing packages: missing-a missing-b\non\n", err)

    def test_an_ordinary_user_is_told_the_command(self):
        self.command("apt-get", "echo called >&2")
        self.command("id", "echo 1000")
        status, _, err = self.setup_script("install_packages missing-a present; echo on >&2")
        self.assertEqual(status, 0)
        self.assertIn("Missing packages: missing-a\nTo install them: sudo apt-get install missing-a\non\n", err)
        self.assertNotIn("called", err)

    def test_another_distribution_is_told_the_names(self):
        status, _, err = self.setup_script("install_packages missing-a; echo on >&2")
        self.assertEqual(status, 0)
        self.assertIn("No apt-get here", err)
        self.assertIn("are needed: missing-a\non\n", err)

    def test_without_a_network_python_packages_and_npm_are_named(self):
        (self.root / "tests/exports").mkdir(parents=True)
        shutil.copy(SOURCE / "tests/exports/requirements.txt", self.root / "tests/exports")
        status, _, err = self.setup_script(
            "make_venv; install_test_packages; install_npm; $python -c 'print(6 * 7)' >&2")
        self.assertEqual(status, 0, err)
        self.assertIn("pip could not install tests/exports/requirements.txt", err)
        self.assertIn("gpubound is built without the report page", err)
        self.assertTrue(err.endswith("42\n"), err)

    def configure(self):
        # An installed toolkit, which would serve, is left out.
        return self.setup_script("python=python3; configure build/offline -DGPUBOUND_TOOLKIT_INCLUDE=")

    def test_without_a_network_missing_headers_are_named_with_the_remedy(self):
        status, _, err = self.configure()
        self.assertEqual(status, 1)
        self.assertRegex(err, r"cuda_headers: could not fetch\n  nvidia-cuda-runtime==")
        words = " ".join(err.split())
        self.assertIn("No CUDA toolkit was found and the header packages could not be fetched", words)
        self.assertIn("set CUDA_HOME", words)
        self.assertTrue(err.endswith("cmake could not configure build/offline (see above)\n"), err)

    def test_without_a_network_headers_fetched_before_serve(self):
        headers = self.root / "build/third_party/cuda/include"
        for header in ("cuda_runtime_api.h", "cupti.h", "crt/host_defines.h", "nvtx3/nvToolsExt.h"):
            (headers / header).parent.mkdir(parents=True, exist_ok=True)
            (headers / header).touch()
        _, _, err = self.configure()
        self.assertIn(f"CUDA headers: {headers}", err)
        self.assertNotIn("could not be fetched", err)

    def test_an_installed_toolkit_serves_without_a_network(self):
        toolkit = self.root / "toolkit"
        for header in ("include/cuda_runtime_api.h", "extras/CUPTI/include/cupti.h"):
            (toolkit / header).parent.mkdir(parents=True)
            (toolkit / header).touch()
        _, _, err = self.setup_script("python=python3; configure build/offline", CUDA_HOME=str(toolkit))
        self.assertIn(f"CUDA headers: {toolkit}/include", err)
        self.assertNotIn("Fetching", err)

    def test_python_without_venv_is_said(self):
        self.command("python3", "exit 1")
        status, _, err = self.setup_script("make_venv")
        self.assertEqual(status, 1)
        self.assertIn("install python3-venv (Debian) and run again", err)


    def test_a_stage_that_there_is_not_is_refused_before_anything_is_installed(self):
        self.command("apt-get", "echo called")
        for stage in ("", "gcc", "address thread"):
            with self.subTest(stage):
                done = subprocess.run([self.bin / "bash", "tools/test", "--stage", stage], cwd=self.root, text=True,
                                      capture_output=True, check=False, env={"PATH": str(self.bin)})
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(done.stderr, "test: --stage takes address, thread, clang, test or fuzz, "
                                 f"not '{stage}'\n")


class Presets(unittest.TestCase):
    def test_a_preset_leaves_out_the_labels_that_tools_test_does(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["testPresets"]
        left_out = {preset["name"]: preset["filter"]["exclude"]["label"]
                    for preset in presets if "filter" in preset}
        suites = re.findall(r"suite \w+ '([^']+)'(?: --preset (\w+))?\n", (SOURCE / "tools/test").read_text())
        self.assertEqual([preset for _, preset in suites], ["asan", "tsan", "clang", "", ""])
        for labels, preset in suites:
            if preset:
                self.assertEqual(left_out[preset], labels, preset)
        default = suites[-1][0]
        self.assertEqual((left_out["release"], left_out["debug"]), (default, default))


if __name__ == "__main__":
    unittest.main()
