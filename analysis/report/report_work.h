// SPDX-License-Identifier: Apache-2.0
//
// What a report says of device work by its name. Plain data.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_WORK_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_WORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpubound {

// Nodes of a graph, so many each time it runs.
struct ReportGraphNode {
  std::string name;
  std::string work_class;  // compute | comm | copy; empty: no device work
  uint64_t count = 0;
  std::string captured_in;  // operation
};

// One kernel, copy or set by name, over the whole span of a process; for --kernels. Lengths are
// clipped to the span, concurrent work counted each.
struct ReportKernel {
  std::string name;
  std::string work_class;  // compute | comm | copy
  std::string category;    // as trace/work_category.h names it
  uint64_t count = 0;
  int64_t sum_ns = 0;
  int64_t mean_ns = 0;  // rounded down
  int64_t median_ns = 0;
  int64_t p95_ns = 0;            // the smallest length that 95 % do not exceed
  bool lengths_rounded = false;  // median and p95 are rounded down, by less than one part in 256
  int64_t sm_filled_ns = 0;      // an estimate: part of sum_ns, weighted by SM fill
  bool sm_fill_is_upper_bound = false;  // work of unknown geometry was taken as filling the device
  std::string op;  // the operator that launched more than half of it; empty: none, or not known
  std::vector<ReportGraphNode> nodes;  // of graphs recorded as a whole, where they are known
};

// All device work of one category, likewise.
struct ReportCategory {
  std::string category;
  uint64_t count = 0;
  int64_t sum_ns = 0;
};

// All device work that one operator of a framework launched on inputs of one shape.
struct ReportOp {
  std::string op;
  std::string shape;     // of its inputs ("8944x1024, 1024x2816"); empty: not known
  std::string types;     // of the same
  std::string category;  // of the work that takes most of its time
  uint64_t calls = 0;    // that launched work
  uint64_t count = 0;    // of pieces of work
  int64_t sum_ns = 0;
  // Of all its calls, from the shapes; absent where these do not tell.
  std::optional<double> flops;
  std::optional<double> bytes;  // each input read once, the output written once
  // Of what the device reaches at most in that time; absent where that is not known, of operations
  // also where they are not of 16-bit floats.
  std::optional<double> peak_flops_share;
  std::optional<double> peak_bytes_share;
};

// As ReportKernel, of the work that API calls of one operation launched.
struct ReportOperationKernel {
  std::string operation;
  ReportKernel kernel;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_WORK_H_
