// SPDX-License-Identifier: Apache-2.0
//
// Which categories the events had that an import left out. Where it found no GPU work, that may be
// why: 'Kernel' is not 'kernel'. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_CATEGORIES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_CATEGORIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gpubound {

class IgnoredCategories {
 public:
  // One event of it. Those of which PyTorch's profiles have many, none of them work, do not count.
  void Count(std::string_view category);

  // Whether PyTorch's profiles have many of them.
  static bool IsUsual(std::string_view category);

  // The most frequent three, with their numbers of events; empty where there are none.
  std::string MostFrequent() const;

  // A trace may have a category for each event.
  static constexpr size_t kMost = 1024;

 private:
  std::map<std::string, uint64_t, std::less<>> events_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_CATEGORIES_H_
