// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/folder_entries.h"

namespace gpubound {
namespace fs = std::filesystem;

std::vector<fs::directory_entry> EntriesOf(const fs::path& folder, std::error_code* error) {
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator next(folder, *error);
  while (!*error && next != fs::directory_iterator()) {
    entries.push_back(*next);
    next.increment(*error);
  }
  return entries;
}

std::vector<fs::directory_entry> EntriesOf(const fs::path& folder) {
  std::error_code ignored;
  return EntriesOf(folder, &ignored);
}

}  // namespace gpubound
