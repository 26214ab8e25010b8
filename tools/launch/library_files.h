// SPDX-License-Identifier: Apache-2.0
//
// Where the two injected libraries lie, seen from the `gpubound` command. They belong together: the
// shim loads the core beside it.
#ifndef GPUBOUND_TOOLS_LAUNCH_LIBRARY_FILES_H_
#define GPUBOUND_TOOLS_LAUNCH_LIBRARY_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "tools/console/console.h"

namespace gpubound {

inline constexpr char kShimFile[] = "libgpubound.so";
inline constexpr char kCoreFile[] = "libgpubound_core.so";
inline constexpr char kLibraryDirVariable[] = "GPUBOUND_LIBRARY_DIR";

struct LibraryFiles {
  std::string shim;  // absolute paths
  std::string core;
  std::string python_startup = {};  // folder of the Python start-up hook; empty: there is none
};

// The folder of the Python start-up hook that belongs to the libraries in |library_dir|: in a build
// tree, a wheel or an installation. Empty where the package is not there.
std::string FindPythonStartup(const std::filesystem::path& library_dir);

// Names of the files that hold the Python package's extension, sorted; |startup| is what
// FindPythonStartup says.
std::vector<std::string> PythonExtensions(const std::filesystem::path& startup);

// The folders to look in for an executable that lies in |executable_dir|, best first: the one that
// GPUBOUND_LIBRARY_DIR names alone, else those of a build tree and of an installation.
std::vector<std::filesystem::path> LibraryFolders(const std::filesystem::path& executable_dir,
                                                  const GetVariable& variable);

// The first folder that holds both files. An error names every folder and what it lacks.
Result<LibraryFiles> FindLibraryFiles(const std::vector<std::filesystem::path>& folders);

// |libraries| under paths that LD_PRELOAD can name: the dynamic loader splits at spaces and colons
// and has no way to quote them. Where theirs has one, through a link to their folder in |cache|,
// which is made, and stays, since processes of a run may outlive this one. An error where |cache|
// is no better.
Result<LibraryFiles> MakePreloadable(LibraryFiles libraries, const std::filesystem::path& cache);

// Both for this executable, with the folder in which calibrations are kept as |cache|.
Result<LibraryFiles> FindOurLibraryFiles();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_LIBRARY_FILES_H_
