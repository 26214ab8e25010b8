// SPDX-License-Identifier: Apache-2.0
//
// Looks into the trace and into folders.
#include "tools/launch/cuda_runtime.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "tools/launch/glob_paths.h"
#include "tools/launch/program_file.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> SitePackages(const std::string& interpreter, const GetVariable& variable) {
  // As it was called: in a virtual environment it is a link to another one's.
  const std::string own = fs::path(interpreter).parent_path().parent_path().string();
  std::vector<std::string> patterns = {own + "/lib/python3*/site-packages"};
  if (const char* home = variable("HOME"); home != nullptr && *home != '\0') {
    patterns.push_back(std::string(home) + "/.local/lib/python3*/site-packages");
  }
  patterns.emplace_back("/usr/local/lib/python3*/dist-packages");
  std::vector<std::string> folders;
  for (const std::string& pattern : patterns) {
    for (std::string& folder : GlobPaths(pattern)) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

std::string CudaRuntimeOf(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    const std::string& path = process.cuda_runtime;
    if (!path.empty() && access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

std::string CudaRuntimeOfPython(const std::string& python, const GetVariable& variable) {
  const std::string interpreter = FindProgram(python, variable);
  if (interpreter.empty()) return {};
  for (const std::string& folder : SitePackages(interpreter, variable)) {
    for (const char* part : {"cu13", "cuda_runtime"}) {
      const std::vector<std::string> found =
          GlobPaths(folder + "/nvidia/" + part + "/lib/libcudart.so.1[2-9]");
      if (!found.empty()) return found.back();
    }
  }
  return {};
}

}  // namespace gpubound
