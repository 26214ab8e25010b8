// SPDX-License-Identifier: Apache-2.0
//
// A set under a mutex, one for the process.
#include "analysis/output/export/unfinished_outputs.h"

#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

namespace gpubound {
namespace {

constexpr int kTries = 100;

std::mutex mutex;

// Never destroyed: the thread that removes them may outlive main().
std::set<std::string>& Paths() {
  static auto* const paths = new std::set<std::string>;  // NOLINT: see above
  return *paths;
}

}  // namespace

std::string MakeUnfinished(const std::function<std::string()>& make) {
  const std::lock_guard lock(mutex);
  std::string path = make();
  if (!path.empty()) Paths().insert(path);
  return path;
}

void EndUnfinished(const std::string& path, const std::function<bool()>& end) {
  const std::lock_guard lock(mutex);
  if (end()) Paths().erase(path);
}

void RemoveUnfinishedOutputs() {
  mutex.lock();  // for good
  for (const std::string& path : Paths()) {
    // Another thread may put one more file into a folder meanwhile.
    std::error_code error(1, std::generic_category());
    for (int i = 0; error && i < kTries; ++i) std::filesystem::remove_all(path, error);
  }
}

}  // namespace gpubound
