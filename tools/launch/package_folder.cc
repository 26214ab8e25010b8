// SPDX-License-Identifier: Apache-2.0
//
// Links to the package. No state.
#include "tools/launch/package_folder.h"

#include <filesystem>
#include <system_error>

namespace gpubound {

std::string MakePackageFolder(const LibraryFiles& libraries, const ScratchFolder& scratch) {
  if (libraries.python_startup.empty() || scratch.path().empty()) return {};
  const std::filesystem::path startup = libraries.python_startup;
  std::string folder = scratch.File("python");
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return {};
  std::filesystem::create_directory_symlink(startup.parent_path(), folder + "/gpubound", error);
  return error ? std::string() : folder;
}

}  // namespace gpubound
