// SPDX-License-Identifier: Apache-2.0
//
// What a run would be with parts of it made faster: the model of that report, beside report.h.
// Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_WHAT_IF_RESULT_H_
#define GPUBOUND_ANALYSIS_REPORT_WHAT_IF_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// The span of a run with changes as a part of that of the same run without. It lies within |low| to
// |high| with 95 % probability.
struct SpanRatio {
  double part = 1;
  double low = 1;
  double high = 1;
};

// Half of the run's time more or less: nobody can act on such a prediction, so none is shown.
inline bool SaysNothing(const SpanRatio& ratio) { return ratio.high - ratio.low > 0.5; }

// The run's time with the time of one part multiplied by a factor.
struct SpeedPoint {
  double factor = 1;
  int64_t wall_ns = 0;
};
struct SpeedCurve {
  // As ReportSaving has it: "gpu", "kernel", "operation_gpu", "operation_cpu", "layer"; and its name.
  std::string part;
  std::string name;
  std::vector<SpeedPoint> points;  // by factor, largest first; the last one is 0
};

// What one part of an operation that was asked about would save by itself.
struct OperationHalf {
  std::string part;  // "operation_gpu" or "operation_cpu"
  std::string name;
  double factor = 1;
  int64_t span_ns = 0;
};

// What becomes of runs like this one that share its GPUs.
struct CopiesPoint {
  uint32_t copies = 1;
  int64_t sliced_ns = 0;  // each takes, where the GPU serves one after the other
  int64_t beside_ns = 0;  // ... where kernels run beside each other as far as they fit (MPS)
};

// GPUs that change their role, and how many the two had.
struct MovedGpus {
  std::string from;
  std::string to;
  uint32_t from_had = 0;
  uint32_t to_had = 0;
  uint32_t gpus = 0;  // 0: none
};

struct WhatIfReport {
  Report before;  // without the profiler's costs, where they are known
  Report after;
  std::string not_corrected;      // why they are not known, of some process; empty: they are
  SpanRatio ratio;                // of the run's span; where its root only launches (OnlyLaunches),
  int64_t span_ns = 0;            // of the one of the process that is told. Before
  int64_t predicted_span_ns = 0;  // and after
  // Of the mean iteration of that process, what lies before, between and after iterations left out.
  SpanRatio iteration_ratio{.part = 0};  // |part| 0: it has none
  std::vector<SpeedCurve> curves;        // those that matter most first
  // Of each scaled operation its GPU work and its CPU code alone, beside all other changes.
  std::vector<OperationHalf> halves;
  // Occurrences of operations that --graph-capture makes a graph of, and those of them that could
  // not be one: they launch more behind a wait for the device or an allocation.
  bool asks_for_graphs = false;
  bool asks_for_fusion = false;  // likewise of one kernel
  uint64_t captures = 0;
  uint64_t captures_broken = 0;
  // Short names of the GPU that the run used and of the one in its place; empty where it stays. The
  // intervals of both ratios hold what bounds the kernels: memory traffic or arithmetic.
  std::string gpu_from;
  std::string gpu_to;
  std::vector<CopiesPoint> copies;  // by number, from 1 on; empty: was not asked for
  bool only_copies = false;         // nothing is changed beside
  // Of GPU busy, which says how many fit; absent where no kernel's geometry is known: one fills it.
  std::optional<double> sm_fill;
  // How many runs' memory the GPU holds at least, by the most that all that ran there used at once;
  // absent where that is not known.
  std::optional<uint32_t> fit_in_memory;
  double cores = 0;         // that one of them keeps busy; 0: is not known
  double environments = 1;  // so many times as many in each launch
  MovedGpus moved;
};

// How much more the run gets done in a second: at most so much, since CPU code is taken to last as
// long for more environments. By the span or the mean iteration, whichever grows more: start-up hides
// in the one, and work that is done after its iteration in the other.
double ThroughputRatio(const WhatIfReport& report);

// The number of copies beyond which one more adds less than a hundredth to what all get done, under
// MPS where |beside|; the last one where each adds more.
uint32_t EnoughCopies(const WhatIfReport& report, bool beside);

std::string RenderWhatIfJson(const WhatIfReport& report);  // gpubound.whatif.v1

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_WHAT_IF_RESULT_H_
