// SPDX-License-Identifier: Apache-2.0
//
// What a calibration program's trace says of the events that the program repeated. Pure.
#ifndef GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_TRACE_H_
#define GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_TRACE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/estimate.h"
#include "analysis/trace/run.h"
#include "tools/calibrate/calibration_plan.h"

namespace gpubound {

class CalibrationTrace {
 public:
  // |run| has both programs.
  CalibrationTrace(const Run& run, CalibrationProgram program);

  // Between the two time stamps of an event, ns; no samples where there was none.
  Estimate DurationOf(const CalibrationWorkload& workload) const;
  // How long CUPTI took to enter a call, ns, on average; 0 where the trace does not say.
  double EntryNsOf(const CalibrationWorkload& workload) const;

 private:
  void Add(const ProcessTrace& process, const ThreadTrace& thread);
  void AddLength(const std::string& within, const std::string& label, int64_t ns);

  // By the operation around them, of calls (empty: none), and by label.
  std::map<std::pair<std::string, std::string>, std::vector<double>> durations_;
  std::vector<CallEntries> entries_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_TRACE_H_
