// SPDX-License-Identifier: Apache-2.0
//
// Counts names. One object, one thread.
#include "analysis/import/import_categories.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace gpubound {
namespace {

constexpr std::string_view kUsual[] = {
    "gpu_user_annotation", "ac2g",      "cuda_sync",        "Trace", "overhead", "fwdbwd",
    "cpu_instant_event",   "async_gpu", "async_cpu_to_gpu", "",
};
constexpr size_t kShown = 3;

}  // namespace

bool IgnoredCategories::IsUsual(std::string_view category) {
  return std::find(std::begin(kUsual), std::end(kUsual), category) != std::end(kUsual);
}

void IgnoredCategories::Count(std::string_view category) {
  if (IsUsual(category)) return;
  auto found = events_.find(category);
  if (found == events_.end()) {
    if (events_.size() == kMost) return;
    found = events_.emplace(category, 0).first;
  }
  ++found->second;
}

std::string IgnoredCategories::MostFrequent() const {
  std::vector<std::pair<std::string, uint64_t>> sorted(events_.begin(), events_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    text += (i == 0 ? "'" : ", '") + sorted[i].first + "' (" + std::to_string(sorted[i].second) +
            (sorted[i].second == 1 ? " event)" : " events)");
  }
  return text;
}

}  // namespace gpubound
