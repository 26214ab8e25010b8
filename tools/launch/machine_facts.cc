// SPDX-License-Identifier: Apache-2.0
//
// Looks at files, the dynamic loader, statfs and cpuid.
#include "tools/launch/machine_facts.h"

#include <dlfcn.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "libprofiler/env_vars.h"
#include "proto/filesystem_kind.h"
#include "proto/invariant_tsc.h"
#include "tools/launch/glob_paths.h"
#include "tools/launch/library_files.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

std::string ValueOf(const char* name) {
  const char* value = EnvironmentVariable(name);
  return value == nullptr ? "" : value;
}

std::string LoaderError() {
  const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): one thread
  return error == nullptr ? "unknown error of the dynamic loader" : error;
}

DriverFacts GatherDriver() {
  DriverFacts driver;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) {
    driver.libcuda.path = "libcuda.so.1";
    using VersionFunction = int (*)(int*);
    // Answers without cuInit, so no context is made and no tool is injected.
    const auto version = reinterpret_cast<VersionFunction>(dlsym(library, "cuDriverGetVersion"));
    if (version == nullptr || version(&driver.cuda_version) != 0) driver.cuda_version = 0;
  } else if (const std::string error = LoaderError();
             error.find("cannot open shared object file: No such") == std::string::npos) {
    driver.libcuda = {"libcuda.so.1", error};
  }
  std::vector<std::string> nodes = GlobPaths("/dev/nvidia[0-9]*");
  if (nodes.empty()) nodes = GlobPaths("/dev/dxg");  // Windows Subsystem for Linux
  driver.device_nodes = static_cast<int>(nodes.size());
  driver.forbidden_device_nodes =
      static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](const std::string& node) {
        return access(node.c_str(), R_OK | W_OK) != 0;
      }));
  return driver;
}

CuptiFacts GatherCupti() {
  CuptiFacts cupti;
  cupti.candidates = FindCupti(CuptiFolders(EnvironmentVariable));
  cupti.chosen = ValueOf("GPUBOUND_CUPTI_LIBRARY");
  std::error_code ignored;
  cupti.chosen_exists = fs::exists(cupti.chosen, ignored);
  cupti.switched_off = !SwitchOf(ValueOf("GPUBOUND_CUPTI")).value_or(true);
  const fs::path injector = ValueOf("CUDA_INJECTION64_PATH");
  if (!injector.empty() && injector.filename() != kCoreFile) {
    cupti.foreign_injector = injector.string();
  }
  return cupti;
}

void GatherLibraries(MachineFacts* facts) {
  const Result<LibraryFiles> libraries = FindOurLibraryFiles();
  if (!libraries.ok()) {
    const Error& error = libraries.error();
    facts->libraries_problem = error.found + ", expected " + error.expected;
    facts->libraries_remedy = error.remedy;
    return;
  }
  facts->libraries_folder = fs::path(libraries->shim).parent_path().string();
  facts->python_extensions = PythonExtensions(libraries->python_startup);
  facts->core.path = libraries->core;
  void* core = dlopen(libraries->core.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (core == nullptr) {
    facts->core.problem = LoaderError();
  } else if (dlsym(core, "gpubound_core_api_v1") == nullptr) {
    facts->core.problem = "it lacks gpubound_core_api_v1, so it is of another version";
  }
}

}  // namespace

std::vector<std::string> CuptiFolders(const GetVariable& variable) {
  const auto value = [&](const char* name) -> std::string {
    const char* text = variable(name);
    return text == nullptr ? "" : text;
  };
  std::vector<std::string> folders;
  std::string searched = value("LD_LIBRARY_PATH");
  for (size_t at = 0; at < searched.size();) {
    const size_t colon = std::min(searched.find(':', at), searched.size());
    if (colon > at) folders.push_back(searched.substr(at, colon - at));
    at = colon + 1;
  }
  const std::string home = value("CUDA_HOME");
  const std::string toolkit = home.empty() ? "/usr/local/cuda" : home;
  for (const char* part : {"/extras/CUPTI/lib64", "/lib64", "/targets/x86_64-linux/lib"}) {
    folders.push_back(toolkit + part);
  }
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  folders.emplace_back("/usr/lib64");
  if (const std::string environment = value("VIRTUAL_ENV"); !environment.empty()) {
    for (const char* package : {"cuda_cupti", "cu13", "cu12"}) {
      const std::string pattern =
          environment + "/lib/python3*/site-packages/nvidia/" + package + "/lib";
      for (std::string& folder : GlobPaths(pattern)) folders.push_back(std::move(folder));
    }
  }
  return folders;
}

std::vector<std::string> FindCupti(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::vector<std::string> real_paths;
  for (const std::string& folder : folders) {
    std::vector<std::string> here = GlobPaths(folder + "/libcupti.so.1[2-9]");
    const auto newer = [](const std::string& a, const std::string& b) {
      return strverscmp(a.c_str(), b.c_str()) > 0;
    };
    std::sort(here.begin(), here.end(), newer);
    for (const std::string& path : here) {
      std::error_code error;
      const std::string real = fs::canonical(path, error).string();
      const bool seen = std::find(real_paths.begin(), real_paths.end(), real) != real_paths.end();
      if (error || seen) continue;  // a dangling link, or another name of the same file
      real_paths.push_back(real);
      found.push_back(path);
    }
  }
  return found;
}

RunPlaceFacts GatherRunPlace(const std::string& path) {
  RunPlaceFacts place;
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "dir/"
  place.path =
      fs::is_directory(absolute, error) ? absolute.string() : absolute.parent_path().string();
  if (access(place.path.c_str(), W_OK | X_OK) != 0) {
    place.problem = std::generic_category().message(errno);
    return place;
  }
  struct statfs status = {};
  if (statfs(place.path.c_str(), &status) != 0) return place;
  place.free_bytes = uint64_t{status.f_bavail} * static_cast<uint64_t>(status.f_bsize);
  const FilesystemKind kind = KindOfFilesystem(static_cast<uint64_t>(status.f_type));
  place.filesystem = kind.name;
  place.is_network = kind.is_network;
  return place;
}

std::vector<std::string> UnknownVariables(const std::vector<std::string>& environment) {
  std::vector<std::string> unknown;
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    // GPUBOUND_SIM_* are read by the simulated device.
    if (!name.starts_with("GPUBOUND_") || name.starts_with("GPUBOUND_SIM_")) continue;
    const bool known = name == kLibraryDirVariable ||
                       std::any_of(std::begin(kEnvVars), std::end(kEnvVars),
                                   [&](const EnvVar& variable) { return name == variable.name; });
    if (!known) unknown.push_back(name);
  }
  return unknown;
}

MachineFacts GatherMachineFacts() {
  MachineFacts facts;
  GatherLibraries(&facts);
  facts.driver = GatherDriver();
  facts.cupti = GatherCupti();
  facts.invariant_tsc = TscIsInvariant();
  const std::string run = ValueOf("GPUBOUND_RUN");
  facts.place = GatherRunPlace(run.empty() ? "." : run);
  utsname names = {};
  if (uname(&names) == 0) facts.kernel = names.release;
  facts.disabled = SaysDisabled(ValueOf("GPUBOUND_DISABLE"));
  facts.unknown_variables = UnknownVariables(OwnEnvironment());
  return facts;
}

}  // namespace gpubound
