// SPDX-License-Identifier: Apache-2.0
//
// Reads the data file into lists of patterns, in its order. No state beside them.
#include "analysis/trace/work_category.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/demangle.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/name_lists_data.h"

namespace gpubound {
namespace {

// In the order of the enumeration.
constexpr std::string_view kNames[] = {"gemm",        "attention", "convolution", "normalisation",
                                       "elementwise", "reduction", "optimizer",   "communication",
                                       "copy",        "other"};
static_assert(std::size(kNames) == static_cast<size_t>(WorkCategory::kOther) + 1);

class CategoryList {
 public:
  // A line "[category]" begins the patterns of one.
  explicit CategoryList(std::string_view text) {
    size_t at = text.find("\n[");
    while (at != std::string_view::npos) {
      const size_t close = text.find("]\n", at);
      const size_t next = text.find("\n[", close);
      const std::string_view name = text.substr(at + 2, close - at - 2);
      const std::string_view patterns = text.substr(close + 2, next - close - 2);
      sections_.emplace_back(WorkCategoryOfName(name).value_or(WorkCategory::kOther),
                             NameList(patterns));
      at = next;
    }
  }

  WorkCategory Of(std::string_view name) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [name](const auto& one) { return one.second.Matches(name); });
    return found == sections_.end() ? WorkCategory::kOther : found->first;
  }

 private:
  std::vector<std::pair<WorkCategory, NameList>> sections_;
};

}  // namespace

std::string_view WorkCategoryName(WorkCategory category) {
  return kNames[static_cast<size_t>(category)];
}

std::optional<WorkCategory> WorkCategoryOfName(std::string_view name) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<WorkCategory>(found - std::begin(kNames));
}

WorkCategory CategoryOf(std::string_view name, WorkClass work_class, std::string_view op) {
  static const CategoryList list(kWorkCategoriesText);
  if (work_class == kComm) return WorkCategory::kCommunication;
  if (work_class == kCopy) return WorkCategory::kCopy;
  const WorkCategory by_name = list.Of(Demangled(std::string(name)));
  return by_name != WorkCategory::kOther || op.empty() ? by_name : list.Of(op);
}

}  // namespace gpubound
