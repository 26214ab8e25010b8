// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel once.
#include "analysis/base/log_memory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "analysis/base/whole_number.h"

namespace gpubound {
namespace {

constexpr int64_t kNotTold = int64_t{256} << 20;
constexpr int64_t kPart = 4;

std::string TextOf(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<int64_t> FirstNumberOf(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  return ParseInt(word);
}

}  // namespace

size_t AvailableMemory(const std::string& meminfo, const std::string& limit,
                       const std::string& used) {
  constexpr char kField[] = "MemAvailable:";
  std::optional<int64_t> available;
  if (const size_t at = meminfo.find(kField); at != std::string::npos) {
    if (const auto kib = FirstNumberOf(meminfo.substr(at + sizeof(kField) - 1))) {
      available = *kib * 1024;
    }
  }
  const std::optional<int64_t> most = FirstNumberOf(limit);
  if (most) {
    const int64_t left = *most - FirstNumberOf(used).value_or(0);
    available = std::min(available.value_or(left), left);
  }
  return static_cast<size_t>(std::max<int64_t>(0, available.value_or(kNotTold)));
}

LogMemory& LogMemory::OfThisProgram() {
  static LogMemory memory(AvailableMemory(TextOf("/proc/meminfo"),
                                          TextOf("/sys/fs/cgroup/memory.max"),
                                          TextOf("/sys/fs/cgroup/memory.current")) /
                          kPart);
  return memory;
}

}  // namespace gpubound
