// SPDX-License-Identifier: Apache-2.0
//
// How long a process took to bring weights from those that train to those that act: operations that
// are called so (analysis/trace/data/weight_sync_names.txt). Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_WEIGHT_SYNC_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_WEIGHT_SYNC_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/report/report_training.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/trace/run.h"

namespace gpubound {

inline constexpr char kSyncBytesCounter[] = "weight_sync_bytes";

// Absent where no operation is one. |primary|: of the process's threads; |steady|: the iterations
// after warm-up.
std::optional<ReportWeightSync> WeightSync(const ProcessTrace& process, size_t primary,
                                           const std::vector<Iteration>& steady);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_WEIGHT_SYNC_H_
