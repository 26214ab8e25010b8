// SPDX-License-Identifier: Apache-2.0
//
// What a run suffers from, what to do about it and what that would bring. Plain values without a
// thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_DIAGNOSIS_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpubound {

// What the mean iteration, where the headline is about those, or else the run would take with the time
// of one part multiplied by |factor|, by the replay.
struct ReportSaving {
  std::string part;  // "gpu", "kernel", "operation_gpu", "operation_cpu" or "layer"
  std::string name;  // of the kernel, operation or layer; empty for all GPU work
  double factor = 0.5;
  int64_t wall_ns = 0;  // of a run, instead of ReportCriticalPath::wall_ns
  // Share of the time that goes, and its 95 % interval. Below 0: the run would take longer.
  double saves = 0;
  double saves_low = 0;
  double saves_high = 0;
  bool of_iteration = false;
};

// One finding. |kind| is one of a closed list (diagnosis_kinds.h), so that programs can switch on it.
struct ReportDiagnosis {
  std::string kind;
  std::string severity;   // "high", "medium" or "low"
  double share = 0;       // of the headline's time that it is about, 0..1
  std::string finding;    // a sentence
  std::string action;     // a sentence that names the knob; empty: there is nothing to do
  std::string operation;  // that limits the run; empty: none does
  std::vector<std::pair<std::string, double>> evidence;  // figures that the finding rests on
  std::optional<ReportSaving> saving;  // the largest of the run, of the first finding alone
  // What the action would bring at most, a sentence, of the first finding alone: the saving by what
  // it asks for, else all idle time of its cause; or that nothing would bring much. Empty: nobody
  // knows.
  std::string gain;
};

// What happened per second of a counter that counts work (env_steps, samples, tokens), from its
// first record to its last. Values that grow with every record are a running total, others are what
// was done since the record before.
struct ReportThroughput {
  std::string counter;
  double total = 0;       // after the first record
  double per_second = 0;  // of wall time
  int64_t ns = 0;         // from the first record to the last
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_DIAGNOSIS_H_
