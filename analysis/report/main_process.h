// SPDX-License-Identifier: Apache-2.0
//
// Which process of a run tells its story where only one can. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_MAIN_PROCESS_H_
#define GPUBOUND_ANALYSIS_REPORT_MAIN_PROCESS_H_

#include <cstddef>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// Whether |process| is the one that the launcher started, or one of several programs that it became
// by exec.
bool IsRoot(const ReportProcess& process, const ReportRun& run);

// The root of the run where it was recorded, else the first process; where nothing says which the
// root is, the first of those with the longest span. Of a root that became other programs by exec
// the one with the most iterations, where none has any that with the longest span. Null without
// any. It points into |report|.
const ReportProcess* MainProcess(const Report& report);

// The process whose operations are told where there is room for those of one: the main one, unless
// it is a launcher (as torchrun is): it has no operation, iteration and GPU work of its own, and
// another process has. Then the first of those with the most iterations, else that with the most
// time in operations, else with the most GPU work. Null without any process.
const ReportProcess* ToldProcess(const Report& report);

// Whether that is another one than the main process, which only launches. What takes less time
// there does not end such a launcher sooner that looks now and then whether its processes have
// ended, and so what could be faster is said of the process that is told.
bool OnlyLaunches(const Report& report);

// The same by its index, of a report that has processes.
struct LeadingProcess {
  size_t index = 0;
  bool is_the_run = false;  // its span is what the run's would be without the launcher
};
LeadingProcess LeadingOf(const Report& report);

// How a process stepped.
struct Stepped {
  bool any = false;   // an iteration has ended
  size_t steady = 0;  // those after warm-up
};

// The process whose iterations are the run's, which the headline covers (SPEC section 2): |root|
// where it has any after warm-up, else the first of those with the most of them. Where nobody has
// come out of warm-up, |root| or else the first that has any iteration. The number of processes
// where none has, and |root| may be that.
size_t SteppingProcess(const std::vector<Stepped>& processes, size_t root);

// The same of processes that were analysed or summed.
template <typename Process>
size_t SteppingProcess(const std::vector<Process>& processes, size_t root) {
  std::vector<Stepped> stepped;
  for (const Process& process : processes) {
    stepped.push_back({process.warm_up.has_value(), process.steady.size()});
  }
  return SteppingProcess(stepped, root);
}

// The same of a report; null where no process steps. It points into |report|.
const ReportProcess* SteppingProcess(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_MAIN_PROCESS_H_
