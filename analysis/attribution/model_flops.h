// SPDX-License-Identifier: Apache-2.0
//
// How much of what its devices reach at most a process used for its model: what the program says
// that its iterations take (gpubound.flops), over the peak of the devices. Pure but for reading
// events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_MODEL_FLOPS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_MODEL_FLOPS_H_

#include <optional>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/trace/run.h"

namespace gpubound {

inline constexpr char kFlopsCounter[] = "flops_per_iteration";
inline constexpr char kPeakCounter[] = "flops_peak_per_second";  // of one device

// Absent where the program says nothing of it. |steady|: the iterations after warm-up; |report|: of
// the process.
std::optional<ReportFlops> ModelFlops(const ProcessTrace& process,
                                      const std::vector<Iteration>& steady,
                                      const ReportProcess& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_MODEL_FLOPS_H_
