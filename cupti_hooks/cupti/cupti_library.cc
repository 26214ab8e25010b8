// SPDX-License-Identifier: Apache-2.0
//
// The order of search, found in the layouts of the CUDA toolkit, of NVIDIA's pip packages for CUDA
// 12 (nvidia/<part>/lib) and 13 (nvidia/cu13/lib), of conda (lib) and of torch (torch/lib). What
// lies beside a library that the program loaded comes first, then what its environment holds, then
// the toolkit.
#include "cupti_hooks/cupti/cupti_library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <type_traits>

#include "libprofiler/debug_log.h"

namespace gpubound {
namespace {

constexpr int kNewestMajor = 13;
constexpr int kOldestMajor = 12;  // 11.x has another soname in each minor release

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Folder(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

// The number at the start of |text|; 0 without one.
int LeadingNumber(std::string_view text) {
  int number = 0;
  for (char c : text) {
    if (!IsDigit(c) || number > 100'000) break;
    number = number * 10 + (c - '0');
  }
  return number;
}

// Whether |path| is called |stem|.so, with any version, and also as a wheel renames a library that
// it bundles: libcupti-36ee0d38.so.11.8.
bool IsCalled(std::string_view path, std::string_view stem) {
  std::string_view name = FileName(path);
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.starts_with("-")) name.remove_prefix(std::min(name.find('.'), name.size()));
  return name.starts_with(".so");
}

// Whether |path| is a library that ships beside libcupti.
bool IsNeighbour(std::string_view path) {
  for (std::string_view stem :
       {"libcudart", "libtorch_cuda", "libtorch", "libcublas", "libcudnn", "libnvrtc"}) {
    if (IsCalled(path, stem)) return true;
  }
  return false;
}

void AddFolder(std::string folder, std::vector<std::string>* folders) {
  if (std::find(folders->begin(), folders->end(), folder) == folders->end()) {
    folders->push_back(std::move(folder));
  }
}

void AddFoldersBeside(const std::string& folder, std::vector<std::string>* folders) {
  AddFolder(folder, folders);                                   // toolkit, conda, cu13
  AddFolder(folder + "/../extras/CUPTI/lib64", folders);        // toolkit
  AddFolder(folder + "/../../cuda_cupti/lib", folders);         // nvidia/<part>/lib
  AddFolder(folder + "/../../cu13/lib", folders);               // nvidia/cudnn/lib
  AddFolder(folder + "/../../nvidia/cu13/lib", folders);        // torch/lib
  AddFolder(folder + "/../../nvidia/cuda_cupti/lib", folders);  // torch/lib
}

void AddSitePackages(const std::string& folder, std::vector<std::string>* folders) {
  AddFolder(folder + "/nvidia/cu13/lib", folders);
  AddFolder(folder + "/nvidia/cuda_cupti/lib", folders);
}

// The site-packages folder that |path| lies in: the extension modules of a program that links CUDA
// statically say where its environment is.
void AddSitePackagesAround(std::string_view path, std::vector<std::string>* folders) {
  for (std::string_view name : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.find(name);
    if (at == std::string_view::npos) continue;
    AddSitePackages(std::string(path.substr(0, at + name.size() - 1)), folders);
  }
}

// |environment|/lib/pythonX.Y/site-packages, for each version that is there.
void FindSitePackages(const std::string& environment, std::vector<std::string>* found) {
  const std::string lib = environment + "/lib/";
  DIR* folder = opendir(lib.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {  // NOLINT(concurrency-mt-unsafe): our own stream
    const std::string_view name = entry->d_name;
    if (name.starts_with("python3")) found->push_back(lib + std::string(name) + "/site-packages");
  }
  closedir(folder);
}

std::string Variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): once, inside cuInit; nothing here sets variables
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What was said stays for good: another thread may be reading it, and it is said once per source.
struct InUse {
  std::string path;
  const InUse* before;  // so that nothing looks leaked
};
constinit std::atomic<const InUse*> g_in_use{nullptr};

int CollectPath(dl_phdr_info* info, size_t, void* paths) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
    static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
  }
  return 0;
}

}  // namespace

int SonameMajor(std::string_view path, std::string_view stem) {
  std::string_view name = FileName(path);
  if (!name.starts_with(stem)) return 0;
  name.remove_prefix(stem.size());
  if (!name.starts_with(".so.")) return 0;
  return LeadingNumber(name.substr(4));
}

int DriverCudaMajor(std::string_view driver_path) {
  // First branch of the driver that speaks each major version, from the CUDA release notes.
  const int branch = SonameMajor(driver_path, "libcuda");
  if (branch >= 580) return 13;
  if (branch >= 525) return 12;
  if (branch >= 450) return 11;
  return 0;  // also "libcuda.so.1", a link that could not be followed
}

std::string DriverVersion(std::string_view driver_path) {
  if (SonameMajor(driver_path, "libcuda") < 2) return {};  // 1: a link that could not be followed
  return std::string(FileName(driver_path).substr(std::string_view("libcuda.so.").size()));
}

std::vector<CuptiCandidate> CuptiCandidates(const CuptiSearch& search) {
  if (!search.override_path.empty()) return {{search.override_path, false}};
  std::vector<CuptiCandidate> candidates;
  for (const std::string& path : search.loaded_paths) {
    if (!IsCalled(path, "libcupti")) continue;
    candidates.push_back({path, true});
    break;
  }

  std::vector<std::string> folders;
  for (const std::string& path : search.loaded_paths) {
    if (IsNeighbour(path) && path.find('/') != std::string::npos) {
      AddFoldersBeside(Folder(path), &folders);
    }
  }
  for (const std::string& path : search.loaded_paths) AddSitePackagesAround(path, &folders);
  for (const std::string& folder : search.site_packages) AddSitePackages(folder, &folders);
  if (!search.conda.empty()) AddFolder(search.conda + "/lib", &folders);
  const std::string toolkit = search.toolkit.empty() ? "/usr/local/cuda" : search.toolkit;
  AddFolder(toolkit + "/extras/CUPTI/lib64", &folders);
  AddFolder(toolkit + "/lib64", &folders);
  AddFolder(toolkit + "/targets/x86_64-linux/lib", &folders);

  const int newest =
      search.driver_major == 0 ? kNewestMajor : std::min(search.driver_major, kNewestMajor);
  for (const std::string& folder : folders) {
    for (int major = newest; major >= kOldestMajor; --major) {
      candidates.push_back({folder + "/libcupti.so." + std::to_string(major), false});
    }
  }
  for (int major = newest; major >= kOldestMajor; --major) {
    candidates.push_back({"libcupti.so." + std::to_string(major), false});
  }
  return candidates;
}

CuptiSearch DescribeProcess(std::string override_path) {
  CuptiSearch search;
  search.override_path = std::move(override_path);
  dl_iterate_phdr(&CollectPath, &search.loaded_paths);
  for (const std::string& path : search.loaded_paths) {
    if (SonameMajor(path, "libcuda") == 0) continue;
    // The soname libcuda.so.1 is a link to a file whose name has the driver's version.
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved) != nullptr) {
      search.driver_major = DriverCudaMajor(resolved);
      search.driver_version = DriverVersion(resolved);
    }
  }
  search.toolkit = Variable("CUDA_HOME");
  search.conda = Variable("CONDA_PREFIX");
  for (const std::string& environment : {Variable("VIRTUAL_ENV"), search.conda}) {
    if (!environment.empty()) FindSitePackages(environment, &search.site_packages);
  }
  return search;
}

std::string CudaRuntimePath(const CuptiSearch& search) {
  for (const std::string& path : search.loaded_paths) {
    if (IsCalled(path, "libcudart") && path.starts_with("/")) return path;
  }
  return {};
}

// What the process has of the driver's is looked up and never loaded.
void ResolveDriver(CuptiApi* api) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto find = [driver](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(driver, name));
  };
  find("cuFuncGetName", &api->cuFuncGetName);
  find("cuKernelGetName", &api->cuKernelGetName);
  dlclose(driver);  // it stays: CUDA is being initialised
}

bool LoadCupti(const CuptiSearch& search, size_t* next, CuptiApi* api, std::string* why) {
  std::string last_failure;
  const std::vector<CuptiCandidate> candidates = CuptiCandidates(search);
  while (*next < candidates.size()) {
    const CuptiCandidate& candidate = candidates[(*next)++];
    const int mode = RTLD_LAZY | RTLD_LOCAL | (candidate.loaded ? RTLD_NOLOAD : 0);
    void* library = dlopen(candidate.path.c_str(), mode);
    if (library == nullptr) {
      const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
      if (!search.override_path.empty() && error != nullptr) last_failure = error;
      DebugLog("libcupti: %s", error != nullptr ? error : candidate.path.c_str());
      continue;
    }
    CuptiApi found;
    found.path = candidate.path;
    std::string failure;
    // What cannot be used stays open: closing a libcupti is not safe.
    if (ResolveCuptiApi(library, &found, &failure)) {
      ResolveDriver(&found);
      *api = std::move(found);
      return true;
    }
    last_failure = candidate.path + ": " + failure;
    DebugLog("libcupti: %s", last_failure.c_str());
    if (candidate.loaded) break;
  }
  *why = last_failure.empty() ? "no libcupti was found (set GPUBOUND_CUPTI_LIBRARY)" : last_failure;
  return false;
}

void SetCuptiInUse(const std::string& path) {
  auto* in_use = new InUse{path, g_in_use.load(std::memory_order_relaxed)};
  g_in_use.store(in_use, std::memory_order_release);
}

std::string CuptiInUse() {
  const InUse* in_use = g_in_use.load(std::memory_order_acquire);
  return in_use == nullptr ? std::string() : in_use->path;
}

}  // namespace gpubound
