// SPDX-License-Identifier: Apache-2.0
//
// Which kind of work a kernel does, by its name: a closed list that a data file fills
// (data/work_categories.txt). Built on first use and immutable after; call from any thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_WORK_CATEGORY_H_
#define GPUBOUND_ANALYSIS_TRACE_WORK_CATEGORY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/trace/work_classes.h"

namespace gpubound {

enum class WorkCategory : uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kNormalisation,
  kElementwise,
  kReduction,
  kOptimizer,
  kCommunication,
  kCopy,
  kOther,
};

// "gemm", "attention", ... as reports print them.
std::string_view WorkCategoryName(WorkCategory category);
std::optional<WorkCategory> WorkCategoryOfName(std::string_view name);

// Of work called |name|, mangled or not, of class |work_class|. Where that does not tell, the
// operator that launched it may; |op| may be empty.
WorkCategory CategoryOf(std::string_view name, WorkClass work_class, std::string_view op);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_WORK_CATEGORY_H_
