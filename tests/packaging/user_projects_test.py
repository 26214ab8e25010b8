#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of users find the headers in each way that docs/cpp.md names, compile, and are recorded:
user_projects_test.py SOURCE COMMAND. Nothing is fetched."""
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

COMMAND, SOURCE = sys.argv.pop(), pathlib.Path(sys.argv.pop())
EXAMPLE = SOURCE / "examples/cpp"
OPERATIONS = {"inference", "simulation", "backpropagation", "optimizer"}
C_PROGRAM = '#include <gpubound/annotate.h>\nint main(void) { GPUBOUND_OPERATION("c"); return 0; }\n'


def run(*words, folder=None, status=0):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words} exited with {done.returncode}:\n{done.stdout}")
    return done.stdout


class UserProjectsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        build, installed = cls.scratch / "build", cls.scratch / "installed"
        cls.configured = run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, "-DGPUBOUND_HEADERS_ONLY=ON",
                             "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        run("cmake", "--build", build)
        run("cmake", "--install", build, "--prefix", installed)
        cls.prefix = cls.scratch / "moved prefix"
        installed.rename(cls.prefix)  # a package is not built where it is used

    def setUp(self):
        self.folder = self.scratch / self.id().rsplit(".", maxsplit=1)[-1]
        self.folder.mkdir()

    def build(self, lists, *options, program=None):
        """The programs that CMake's `lists` build, by name."""
        (self.folder / "CMakeLists.txt").write_text(lists)
        if program:
            (self.folder / "user.c").write_text(program)
        run("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "b", *options)
        run("cmake", "--build", self.folder / "b")
        return self.folder / "b"

    def check(self, program):
        """Runs by itself as with the profiler, which sees its operations."""
        self.assertEqual(run(program), "trained\n")
        recorded = self.folder / "x.gpubound"
        self.assertEqual(run(COMMAND, "run", "-q", "-o", recorded, "--", program), "trained\n")
        report = json.loads(run(COMMAND, "report", recorded, "--json"))
        operations = {row["operation"] for row in report["processes"][0]["operations"]}
        self.assertLessEqual(OPERATIONS, operations)
        self.assertEqual(report["run"]["metadata"], {"algorithm": "PPO"})
        self.assertEqual(report["processes"][0]["iterations"]["count"], 4)  # from one end to the next

    def lists(self, text, found="", standard=""):
        """A project like the example's, with `text` in place of find_package."""
        return textwrap.dedent(f"""\
            cmake_minimum_required(VERSION 3.16)
            project(trainer LANGUAGES CXX)
            {standard}
            find_package(Threads REQUIRED)
            {text}
            add_executable(trainer {EXAMPLE}/trainer.cc)
            target_link_libraries(trainer PRIVATE {found or 'gpubound::annotate'} Threads::Threads)
            """)

    def test_the_example_finds_an_installed_package(self):
        build = self.folder / "b"
        run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.check(build / "trainer")

    def test_a_newer_version_than_the_installed_one_is_not_found(self):
        text = (EXAMPLE / "CMakeLists.txt").read_text().replace("gpubound 0.1", "gpubound 0.99")
        (self.folder / "CMakeLists.txt").write_text(text)
        (self.folder / "trainer.cc").touch()
        said = run("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "b",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", status=1)
        self.assertRegex(said, r"gpubound-config.cmake, version: 0\.1\.0")

    def test_fetch_content_brings_the_headers_and_builds_nothing_else(self):
        fetch = (f"include(FetchContent)\nFetchContent_Declare(gpubound SOURCE_DIR {SOURCE})\n"
                 "FetchContent_MakeAvailable(gpubound)")
        build = self.build(self.lists(fetch, standard="set(CMAKE_CXX_STANDARD 14)"),
                           "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
        self.check(build / "trainer")
        with open(build / "build.ninja", encoding="utf-8") as file:
            self.assertEqual(sum(line.startswith("build ") and "_COMPILER__" in line for line in file), 1)
        run("cmake", "--install", build, "--prefix", self.folder / "p")
        self.assertFalse((self.folder / "p").exists())

    def test_a_folder_of_the_sources_serves_by_itself(self):
        build = self.build(self.lists(f"add_subdirectory({SOURCE}/annotate gpubound)"))
        self.check(build / "trainer")

    def test_a_project_in_c_needs_no_cxx(self):
        lists = ("cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES C)\n"
                 "find_package(gpubound REQUIRED)\nadd_executable(user user.c)\n"
                 "target_link_libraries(user PRIVATE gpubound::annotate)\n")
        run(self.build(lists, f"-DCMAKE_PREFIX_PATH={self.prefix}", program=C_PROGRAM) / "user")

    def test_a_project_in_c_may_fetch_the_headers(self):
        lists = ("cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES C)\ninclude(FetchContent)\n"
                 f"FetchContent_Declare(gpubound SOURCE_DIR {SOURCE})\nFetchContent_MakeAvailable(gpubound)\n"
                 "add_executable(user user.c)\ntarget_link_libraries(user PRIVATE gpubound::annotate)\n")
        run(self.build(lists, program=C_PROGRAM) / "user")

    def test_pkg_config_has_the_flags(self):
        flags = run("env", f"PKG_CONFIG_PATH={self.prefix}/share/pkgconfig", "pkg-config", "--cflags", "--libs",
                    "gpubound >= 0.1")
        program = self.folder / "trainer"
        run("sh", "-c", f"g++ -std=c++17 -pthread {EXAMPLE}/trainer.cc -o {program} {flags.strip()}")
        self.check(program)

    def test_the_port_of_vcpkg_makes_a_package(self):
        port, package = SOURCE / "tools/packaging/vcpkg/gpubound", self.folder / "package"
        run("cmake", f"-DPORT={port}", f"-DCURRENT_PACKAGES_DIR={package}", f"-DBUILD={self.folder}/port", "-P",
            pathlib.Path(__file__).parent / "run_port.cmake")
        self.assertEqual({path.name for path in package.iterdir()}, {"include", "share"})
        run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={package}")
        run("cmake", "--build", self.folder / "b")
        version = json.loads((port / "vcpkg.json").read_text())["version"]
        self.assertIn(f'set(PACKAGE_VERSION "{version}")',
                      (package / "share/gpubound/gpubound-config-version.cmake").read_text())

    def test_the_headers_alone_are_what_was_installed(self):
        self.assertEqual({path.name for path in self.prefix.iterdir()}, {"include", "lib", "share"})
        self.assertEqual({path.name for path in (self.prefix / "include/gpubound").iterdir()},
                         {"annotate.h", "api.h", "coroutine.hpp", "detail", "scope.hpp"})


if __name__ == "__main__":
    unittest.main()
