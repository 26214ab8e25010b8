// SPDX-License-Identifier: Apache-2.0
//
// Looks for libgpubound.so and libgpubound_core.so relative to /proc/self/exe.
#include "tools/launch/library_files.h"

#include <algorithm>
#include <system_error>

namespace gpubound {
namespace fs = std::filesystem;
namespace {

// "neither in A", or which of the two files is there.
std::string WhatIsIn(const fs::path& folder) {
  std::error_code ignored;
  const bool has_shim = fs::exists(folder / kShimFile, ignored);
  const bool has_core = fs::exists(folder / kCoreFile, ignored);
  if (!has_shim && !has_core) return "neither in " + folder.string();
  return std::string("no ") + (has_shim ? kCoreFile : kShimFile) + " in " + folder.string();
}

// As it is where there is no current directory.
fs::path Absolute(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute;
}

}  // namespace

std::vector<fs::path> LibraryFolders(const fs::path& executable_dir, const GetVariable& variable) {
  const char* chosen = variable(kLibraryDirVariable);
  if (chosen != nullptr && *chosen != '\0') return {Absolute(chosen)};
  const fs::path prefix = executable_dir.parent_path();
  std::vector<fs::path> folders = {prefix / "lib", prefix / "lib" / "gpubound", prefix / "lib64"};
#ifdef GPUBOUND_INSTALL_LIBDIR
  const fs::path installed = prefix / GPUBOUND_INSTALL_LIBDIR;
  if (std::find(folders.begin(), folders.end(), installed) == folders.end()) {
    folders.push_back(installed);
  }
#endif
  return folders;
}

std::string FindPythonStartup(const fs::path& library_dir) {
  std::error_code ignored;
  const fs::path prefix = library_dir.parent_path();
  for (const fs::path& package :
       {prefix / "python" / "gpubound", prefix, library_dir / "gpubound" / "python" / "gpubound"}) {
    const fs::path startup = package / "startup";
    if (fs::exists(startup / "sitecustomize.py", ignored)) return startup.string();
  }
  return {};
}

Result<LibraryFiles> FindLibraryFiles(const std::vector<fs::path>& folders) {
  std::string found;
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    const fs::path shim = folder / kShimFile;
    const fs::path core = folder / kCoreFile;
    if (fs::exists(shim, ignored) && fs::exists(core, ignored)) {
      return LibraryFiles{shim.string(), core.string(), FindPythonStartup(folder)};
    }
    found += (found.empty() ? "" : ", ") + WhatIsIn(folder);
  }
  return Error{"looking for", "the gpubound libraries", found,
               std::string(kShimFile) + " and " + kCoreFile + " side by side",
               std::string("Build or install them, or set ") + kLibraryDirVariable +
                   " to the folder that holds them."};
}

Result<LibraryFiles> FindOurLibraryFiles() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{"looking for", "the gpubound libraries", "/proc/self/exe: " + error.message(),
                 "a link to this program",
                 std::string("Mount /proc, or set ") + kLibraryDirVariable +
                     " to the folder that holds the libraries."};
  }
  return FindLibraryFiles(LibraryFolders(executable.parent_path(), EnvironmentVariable));
}

Status CheckPreloadable(const LibraryFiles& libraries) {
  if (libraries.shim.find_first_of(" :") == std::string::npos) return Ok{};
  return Error{"putting into LD_PRELOAD", libraries.shim, "a path with a space or a colon",
               "one that the dynamic loader does not split",
               std::string("Install gpubound elsewhere, or make a symbolic link to the folder and "
                           "set ") +
                   kLibraryDirVariable + " to it."};
}

}  // namespace gpubound
