#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` and cpack make of a build: install_test.py BUILD VERSION."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

VERSION, BUILD = sys.argv.pop(), sys.argv.pop()
LIBRARIES = {"lib/libgpubound.so", "lib/libgpubound_core.so", "lib/gpubound_sqlite.so", "lib/gpubound-calibration"}
SHELL = {"share/man/man1/gpubound.1", "share/bash-completion/completions/gpubound",
         "share/zsh/site-functions/_gpubound", "share/fish/vendor_completions.d/gpubound.fish",
         "share/doc/gpubound/copyright", "share/doc/gpubound/licences/libsqlite3-dev"}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class InstallTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.prefix = pathlib.Path(scratch.name)

    def install(self, *options):
        """The files that come, below the prefix."""
        run("cmake", "--install", BUILD, "--prefix", str(self.prefix), *options)
        return {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()}

    def test_components_are_installed_by_themselves(self):
        files = self.install("--component", "shell")
        self.assertLessEqual(SHELL, files)
        self.assertTrue(all(file.startswith("share/") for file in files))
        self.assertEqual(self.install("--component", "profiler") - files, LIBRARIES | {"bin/gpubound"})

    def test_the_installed_command_records_and_has_a_manual(self):
        self.assertIn("lib/gpubound/python/gpubound/__init__.py", self.install("--strip"))
        command = str(self.prefix / "bin/gpubound")
        self.assertNotIn(".symtab", run("readelf", "--section-headers", "--wide", command))
        recorded = str(self.prefix / "x.gpubound")
        run(command, "run", "-q", "-o", recorded, "--", sys.executable, "-c",
            "import gpubound\nwith gpubound.operation('simulation'): pass")
        self.assertIn("simulation", run(command, "report", recorded, "--full"))
        self.assertIn("gpubound run", (self.prefix / "share/man/man1/gpubound.1").read_text())

    def test_a_debian_package_holds_all_components(self):
        run("cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", str(self.prefix))
        package = str(self.prefix / f"gpubound_{VERSION}_amd64.deb")
        listed = run("dpkg-deb", "--contents", package).splitlines()
        files = {line.split()[-1].removeprefix("./usr/") for line in listed}
        self.assertLessEqual(SHELL | LIBRARIES | {"bin/gpubound", "include/gpubound/annotate.h",
                                                  "lib/cmake/gpubound/gpubound-config.cmake",
                                                  "lib/gpubound/python/gpubound/__init__.py"}, files)
        self.assertRegex(run("dpkg-deb", "--field", package, "Depends"), r"libc6 .*libsimdjson")


if __name__ == "__main__":
    unittest.main()
