// SPDX-License-Identifier: Apache-2.0
//
// Looks for libgpubound.so and libgpubound_core.so relative to /proc/self/exe.
#include "tools/launch/library_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "analysis/calibration/calibration_file.h"

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

bool IsPreloadable(const std::string& path) {
  return path.find_first_of(" :") == std::string::npos;
}

// The name of a link to |folder|: its own for each folder.
fs::path LinkIn(const fs::path& cache, const fs::path& folder) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : folder.string()) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return cache / fmt::format("libraries-{:016x}", hash);
}

// Makes |link| if it is not there. False with |error|, or where something else is in its place.
bool LinkLeadsTo(const fs::path& link, const fs::path& folder, std::error_code* error) {
  fs::create_directories(link.parent_path(), *error);
  if (!*error) fs::create_directory_symlink(folder, link, *error);
  if (*error == std::errc::file_exists) error->clear();
  std::error_code ignored;
  return !*error && fs::read_symlink(link, ignored) == folder;
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

std::vector<std::string> PythonExtensions(const fs::path& startup) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(startup.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("_core.") && name.ends_with(".so")) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
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

Result<LibraryFiles> MakePreloadable(LibraryFiles libraries, const fs::path& cache) {
  if (IsPreloadable(libraries.shim)) return libraries;
  const fs::path folder = fs::path(libraries.shim).parent_path();
  const fs::path link = Absolute(LinkIn(cache, folder));
  std::error_code error;
  if (cache.empty() || !IsPreloadable(link.string()) || !LinkLeadsTo(link, folder, &error)) {
    return Error{
        "putting into LD_PRELOAD", libraries.shim,
        "a path with a space or a colon" +
            (error ? ", and " + link.string() + ": " + error.message() : ""),
        "one that the dynamic loader does not split",
        std::string("Install gpubound elsewhere, or make a symbolic link to the folder and "
                    "set ") +
            kLibraryDirVariable + " to it."};
  }
  libraries.shim = (link / kShimFile).string();
  libraries.core = (link / kCoreFile).string();
  return libraries;
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
  Result<LibraryFiles> libraries =
      FindLibraryFiles(LibraryFolders(executable.parent_path(), EnvironmentVariable));
  return libraries.ok() ? MakePreloadable(*libraries, CalibrationFolder()) : libraries;
}

}  // namespace gpubound
