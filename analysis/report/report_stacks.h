// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the Python stacks that were seen in an operation. Shares are estimates from
// looks at points in time. Plain data.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_STACKS_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_STACKS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound {

// A function as it was called: under its caller, at whatever line of it.
struct ReportFrame {
  uint32_t caller = 0;   // position of its caller in the list, plus one; 0: none
  std::string function;  // as Python names it; "import NAME" for what a module does when imported
  std::string package;   // as of a part
  std::string file;
  uint32_t line = 0;       // where most looks saw it; 0: not known
  uint64_t looks = 0;      // that saw it, whatever it called
  uint64_t own_looks = 0;  // that saw nothing called by it
};

// One of the places where an operation's time parts, folded: what a library does is its function
// that was called.
struct ReportStackPart {
  std::string function;
  std::string package;  // the library; empty: the program's own
  std::string file;
  uint32_t line = 0;
  uint64_t looks = 0;
  double share = 0;  // of the operation's looks
  double error = 0;  // so much more or less, with 95 % probability
};

// A line of the program at which the reporting thread waited for the GPU, in an operation. Shares
// are of all looks at which that thread waited for the GPU.
struct ReportSyncLine {
  std::string operation;
  ReportStackPart at;
};

// Looks at the reporting thread, in an operation.
struct ReportStacks {
  std::string operation;
  bool start_up = false;  // before the process's first operation or iteration
  uint64_t looks = 0;
  double runnable_share = 0;           // of them: the thread was on a CPU, or ready to run
  std::vector<ReportStackPart> parts;  // most looks first
  // All of it as a tree, callers before whom they call. Not in the JSON.
  std::vector<ReportFrame> frames;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_STACKS_H_
