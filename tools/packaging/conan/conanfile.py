# SPDX-License-Identifier: Apache-2.0
"""The annotation headers as a package of Conan 2: conan create tools/packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class Gpubound(ConanFile):
    name = "gpubound"
    description = "Annotations for the gpubound profiler: header-only, a no-op where it is not injected"
    license = "Apache-2.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._checkout, "CMakeLists.txt"))
        self.version = re.findall(r"project\(gpubound VERSION ([0-9.]+)", text)[0]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "annotate/CMakeLists.txt", "annotate/include/*"):
            copy(self, pattern, self._checkout, self.export_sources_folder)

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["GPUBOUND_HEADERS_ONLY"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "gpubound::annotate")
        self.cpp_info.set_property("pkg_config_name", "gpubound")
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["dl"]
