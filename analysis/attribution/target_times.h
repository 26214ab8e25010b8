// SPDX-License-Identifier: Apache-2.0
//
// When the targets of a training (analysis/report/target.h) were reached, and where the time went
// until then. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_TARGET_TIMES_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_TARGET_TIMES_H_

#include <optional>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/interval.h"
#include "analysis/base/status.h"
#include "analysis/processes/clock_align.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/report/target.h"
#include "analysis/trace/run.h"

namespace gpubound {

// The mean of the last Target::records values, record by record.
class RunningMean {
 public:
  explicit RunningMean(size_t length) : length_(length) { values_.reserve(length); }
  // Absent until there are as many as it is over.
  std::optional<double> Add(double value);

 private:
  const size_t length_;
  std::vector<double> values_;  // a ring once it is full
  size_t next_ = 0;
  double sum_ = 0;
};

// Of |options|.targets, in their order. |report| has the processes. An error is internal.
Result<std::vector<ReportTarget>> TargetTimes(const Run& run, const ClockAlignment& clocks,
                                              const Interval& span, const BreakdownOptions& options,
                                              const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_TARGET_TIMES_H_
