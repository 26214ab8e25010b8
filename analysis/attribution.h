// SPDX-License-Identifier: Apache-2.0
//
// From cells to rows: what the time of each operation was, by the timeline (GPU time that passed
// while it was open) and by cause (GPU time of the work that it launched). Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_H_

#include <string>
#include <vector>

#include "analysis/gpu_work.h"
#include "analysis/overlap_sweep.h"
#include "analysis/process_timeline.h"
#include "analysis/report.h"

namespace gpubound {

// Union, per operation, of the work whose API call began in it, clipped to |span|. |operation_of|
// is parallel to |work|, which is sorted by begin.
std::vector<int64_t> CausedTime(const std::vector<GpuItem>& work,
                                const std::vector<OperationIndex>& operation_of,
                                const Interval& span, size_t operations);

struct AttributionInput {
  const std::vector<std::string>* operations = nullptr;  // names by OperationIndex
  const SweepResult* sweep = nullptr;
  const std::vector<OperationCounts>* counts = nullptr;
  const std::vector<int64_t>* caused_ns = nullptr;
};

// Rows of operations that have time, scopes or caused work, and always (no operation). Longest wall
// time first, ties by name.
std::vector<ReportOperation> OperationRows(const AttributionInput& input);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_H_
