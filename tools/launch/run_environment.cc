// SPDX-License-Identifier: Apache-2.0
//
// Composes LD_PRELOAD, GPUBOUND_RUN, the injection paths and the Python start-up hook.
#include "tools/launch/run_environment.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// The dynamic loader splits LD_PRELOAD at spaces and colons.
bool NamesLibrary(std::string_view preload, std::string_view library) {
  while (!preload.empty()) {
    const size_t end = std::min(preload.find_first_of(" :"), preload.size());
    if (preload.substr(0, end) == library) return true;
    preload.remove_prefix(std::min(end + 1, preload.size()));
  }
  return false;
}

// A program of AddressSanitizer's ends at once where another library comes before its own, unless
// it is told not to look. In front, so that a choice of the user's counts; programs of no sanitizer
// read nothing of it.
std::string AsanOptions(const char* existing) {
  const std::string ours = "verify_asan_link_order=0";
  if (!IsSet(existing)) return ours;
  return std::string_view(existing).find("verify_asan_link_order") != std::string_view::npos
             ? existing
             : ours + ":" + existing;
}

}  // namespace

std::string AppendPreload(std::string_view existing, std::string_view shim) {
  if (existing.empty()) return std::string(shim);
  if (NamesLibrary(existing, shim)) return std::string(existing);
  return std::string(existing) + ":" + std::string(shim);
}

std::vector<Assignment> RunAssignments(const LibraryFiles& libraries,
                                       const std::string& run_directory,
                                       const GetVariable& variable) {
  const char* preload = variable("LD_PRELOAD");
  std::vector<Assignment> assignments = {
      {"LD_PRELOAD", AppendPreload(preload == nullptr ? "" : preload, libraries.shim)}};
  if (!run_directory.empty()) assignments.push_back({"GPUBOUND_RUN", run_directory});
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    if (!IsSet(variable(name))) assignments.push_back({name, libraries.core});
  }
  if (!libraries.python_startup.empty() && !IsSet(variable("GPUBOUND_PYTHON"))) {
    assignments.push_back({"GPUBOUND_PYTHON", libraries.python_startup});
  }
  assignments.push_back({"ASAN_OPTIONS", AsanOptions(variable("ASAN_OPTIONS"))});
  return assignments;
}

GetVariable PreloadOf(GetVariable variable) {
  return [variable = std::move(variable)](const char* name) {
    return std::string_view(name) == "LD_PRELOAD" ? variable(name) : nullptr;
  };
}

std::vector<Assignment> PackageAssignments(const std::string& package_folder,
                                           const GetVariable& variable) {
  if (package_folder.empty()) return {};
  const char* path = variable("PYTHONPATH");
  const std::string before = IsSet(path) ? path + std::string(":") : "";
  return {{"PYTHONPATH", before + package_folder}};
}

std::vector<Assignment> PlainAssignments(const std::string& package_folder,
                                         const GetVariable& variable) {
  std::vector<Assignment> assignments = PackageAssignments(package_folder, variable);
  assignments.insert(assignments.begin(), {"GPUBOUND_DISABLE", "1"});
  return assignments;
}

std::vector<std::string> WithAssignments(std::vector<std::string> environment,
                                         const std::vector<Assignment>& assignments) {
  for (const Assignment& assignment : assignments) {
    const std::string head = assignment.name + "=";
    const auto is_old = [&](const std::string& entry) { return entry.starts_with(head); };
    const auto old = std::find_if(environment.begin(), environment.end(), is_old);
    if (old == environment.end()) {
      environment.push_back(head + assignment.value);
      continue;
    }
    *old = head + assignment.value;
    // A second entry of the same name would win in some programs.
    environment.erase(std::remove_if(old + 1, environment.end(), is_old), environment.end());
  }
  return environment;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

}  // namespace gpubound
