// SPDX-License-Identifier: Apache-2.0
//
// The report's iterations of the training loop (report.h). Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_ITERATIONS_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_ITERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpubound {

// How far the program said it had come, and when that was, after the span's begin.
struct ReportProgress {
  double done = 0;
  double total = 0;
  int64_t at_ns = 0;
  double first_done = 0;  // what it said first: not 0 where a training goes on
  int64_t first_at_ns = 0;
};

struct ReportIteration {
  int64_t number = 0;    // as the program counts, which may be below 0
  int64_t begin_ns = 0;  // after the span's begin
  int64_t ns = 0;
  int64_t gpu_busy_ns = 0;
  bool warm_up = false;
};

// Time of an operation over the iterations after warm-up.
struct ReportIterationOperation {
  std::string operation;
  int64_t wall_ns = 0;
  int64_t gpu_busy_ns = 0;
  int64_t unknown_ns = 0;
};

// What iterations after warm-up were made of, in order of time; of many a random sample. A column
// has a value for each of them.
struct ReportIterationSeries {
  std::vector<size_t> iterations;  // which: places in ReportIterations::every
  // In the order of ReportIterations::operations.
  std::vector<std::vector<int64_t>> operation_wall_ns;
  std::vector<std::vector<int64_t>> operation_busy_ns;
  // Time without work on any device of the process, by cause.
  std::vector<std::pair<std::string, std::vector<int64_t>>> idle_ns;
};

// Who named the time of the iterations after warm-up: sums to it, less what was not recorded.
struct ReportNaming {
  int64_t program_ns = 0;  // operations that the program opened itself
  int64_t rules_ns = 0;    // operations that hooks and rules name, but for `rollout` and `update`
  int64_t waiting_ns = 0;  // of the rest: the thread waited for something
  int64_t stage_ns = 0;    // `rollout` or `update` of a rule, and no operation within it
  int64_t none_ns = 0;     // no operation
  int64_t Total() const { return program_ns + rules_ns + waiting_ns + stage_ns + none_ns; }
  int64_t Explained() const { return program_ns + rules_ns + waiting_ns; }
};

// Iterations of the training loop: start-up, warm-up, the others, and what follows the last one.
struct ReportIterations {
  uint64_t warm_up = 0;  // number of iterations
  uint64_t count = 0;    // after warm-up; statistics are about these
  int64_t start_up_ns = 0;
  int64_t warm_up_ns = 0;
  int64_t total_ns = 0;
  int64_t shutdown_ns = 0;
  int64_t mean_ns = 0;  // rounded down
  int64_t median_ns = 0;
  int64_t p95_ns = 0;  // the smallest length that 95 % do not exceed
  int64_t gpu_busy_ns = 0;
  ReportNaming naming;
  std::vector<ReportIterationOperation> operations;  // by wall time, longest first; ties by name
  std::vector<ReportIteration> slowest;              // at most ten, slowest first
  std::vector<ReportIteration> every;                // in order of time, warm-up first
  ReportIterationSeries series;                      // for statistics; not part of the JSON
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_ITERATIONS_H_
