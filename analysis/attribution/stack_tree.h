// SPDX-License-Identifier: Apache-2.0
//
// From the stacks that were seen in an operation to a tree of functions, and to the few places where
// its time parts. Frames that only hand on (the machinery of imports, torch's call of a module's
// forward) are left out. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_STACK_TREE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_STACK_TREE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report_stacks.h"
#include "analysis/sweep/stack_book.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What the process did as it started up, then each operation, most looks first.
std::vector<ReportStacks> StacksOf(const StackCounts& counts, const ProcessTrace& process,
                                   const LabelRoles& roles);

// The lines that waited for the GPU, most looks first, at most kMostSyncLines. A line is that of the
// innermost frame of the program itself; where all frames are a library's, the innermost. Lines of
// less than 2 % of the looks are left out: a thread goes on while its frames are read, so that a few
// looks from the end of a wait have the line after it.
inline constexpr size_t kMostSyncLines = 20;
std::vector<ReportSyncLine> SyncLinesOf(const StackCounts& counts, const ProcessTrace& process,
                                        const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_STACK_TREE_H_
