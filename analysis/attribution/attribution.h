// SPDX-License-Identifier: Apache-2.0
//
// From booked time to rows: what the time of each operation was, by the timeline (GPU time that
// passed while it was open) and by cause (GPU time of the work that it launched), and why devices
// idled in it. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ATTRIBUTION_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ATTRIBUTION_H_

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/sweep/cell_book.h"
#include "analysis/sweep/cpu_split.h"
#include "analysis/sweep/launch_stats.h"
#include "analysis/sweep/queued_time.h"
#include "analysis/timeline/process_timeline.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

struct AttributionInput {
  const LabelRoles* roles = nullptr;
  const std::vector<CellBook::Row>* rows = nullptr;
  const std::vector<bool>* device_used = nullptr;        // null: no device times
  const std::vector<bool>* device_ran_graph = nullptr;   // likewise
  const std::vector<OperationCounts>* counts = nullptr;  // null: none, as for a lane
  const LaneScopes* lane = nullptr;                      // null: for the reporting thread
  const std::vector<int64_t>* caused_ns = nullptr;       // likewise
  const std::vector<QueuedIdle>* queued = nullptr;       // by DeviceId; null: none
  const std::vector<LaunchTime>* launches = nullptr;     // by OperationIndex; null: none
  const CpuSplits* cpu = nullptr;                        // of the thread; null: none
};

// Non-zero cells, ordered by phase, operation, layer, GPU state.
std::vector<ReportCell> NamedCells(const AttributionInput& input);

// Of all operations, and how many gaps of |device_used| are of |cause|, kQueued or kEventWait.
ReportLaunches AllLaunches(const AttributionInput& input);
ReportQueuedGaps QueuedGaps(const AttributionInput& input, IdleCause cause);

// Rows of operations that have time, scopes or caused work, and always (no operation). Longest wall
// time first, ties by name.
std::vector<ReportOperation> OperationRows(const AttributionInput& input);

// Busy, idle by cause, and unknown time of every used device within each operation.
std::vector<ReportDeviceShare> DeviceShares(const AttributionInput& input,
                                            const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ATTRIBUTION_H_
