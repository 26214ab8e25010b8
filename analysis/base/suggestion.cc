// SPDX-License-Identifier: Apache-2.0
//
// Optimal string alignment distance over three rows; the words are short.
#include "analysis/base/suggestion.h"

#include <algorithm>
#include <vector>

namespace gpubound {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string ClosestName(std::string_view typed, std::span<const std::string> names) {
  constexpr size_t kShortestAbbreviation = 2;
  constexpr size_t kLongestTyped = 64;
  if (typed.size() > kLongestTyped) return {};
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& name : names) {
    if (typed.size() >= kShortestAbbreviation && name.starts_with(typed)) return name;
    const size_t distance = EditDistance(typed, name);
    const size_t tolerance = std::max<size_t>(1, std::max(typed.size(), name.size()) / 3);
    if (distance > tolerance || (best != nullptr && distance >= best_distance)) continue;
    best = &name;
    best_distance = distance;
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace gpubound
