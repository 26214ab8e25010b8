// SPDX-License-Identifier: Apache-2.0
//
// A trace written down as text, with what its report has to say. One line, one statement; blank
// lines and what follows '#' are ignored. Times are plain ns.
//
//   span 0 100                       span of the process (default 0 100)
//   base python|native               base layer (default python)
//   thread NAME                      the first one is the main thread
//   @10 NAME begin operation WHAT    also: begin layer LAYER, begin annotation [DOMAIN:]WHAT
//   @20 NAME end WHAT                also: end layer LAYER
//   @30 NAME phase WHAT              also: pause, resume, range-start ID WHAT, range-end ID,
//                                    hand-over ID WHAT, adopt ID WHAT
//   reset NAME [WHAT...]             events are missing here; these operations are open after it
//   call NAME 10 20 cudaFoo #7       an API call with correlation id 7
//   overhead NAME 10 20 WHAT         a CUPTI overhead record
//   device 2 sms=4 blocks=2          device 1, 4 SMs of 2 blocks, is there already
//   kernel 10 20 WHAT #7             also: copy, set, graph; options: device=2 stream=1 grid=4
//   unknown 10 20
//   operations nvtx:DOMAIN           ReportOptions::operations
//
//   expect cells                     the complete list, one a line:
//     PHASE | OPERATION | LAYER | GPU | NS
//   expect rows                      some columns of some operations:
//     OPERATION: wall=10 gpu_busy=5 python->backend=1
//   expect process gpu_busy=5        gpu_busy, gpu_wait, gpu_sum, unknown, span
//   expect ledger COUNTER=1
#ifndef GPUBOUND_TESTS_GOLDEN_SCENARIO_H_
#define GPUBOUND_TESTS_GOLDEN_SCENARIO_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/run.h"

namespace gpubound::golden {

using Values = std::map<std::string, int64_t>;

struct Scenario {
  Run run;
  ReportOptions options;
  std::vector<std::string> cells;      // "phase | operation | layer | gpu | ns", sorted
  std::map<std::string, Values> rows;  // by operation
  Values process;
  Values ledger;
  std::vector<std::string> mistakes;  // lines that could not be understood
};

Scenario ParseScenario(const std::string& text);

// The same lines as in Scenario::cells, from a report.
std::vector<std::string> CellLines(const ReportProcess& process);

// Every column and transition of a row by the name that scenarios use.
Values RowValues(const ReportOperation& row);
Values ProcessValues(const ReportProcess& process);
Values LedgerValues(const Report& report);

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_SCENARIO_H_
