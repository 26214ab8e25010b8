// SPDX-License-Identifier: Apache-2.0
//
// Facts of a report that both its diagnosis and its texts rest on: what the headline is about, and
// why the GPU was idle then. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_HEADLINE_FACTS_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_HEADLINE_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// The headline is about iterations that leave out so much of the run that figures of the one are
// not those of the other.
bool HeadlineIsPart(const Report& report);

// No device worked, and none could have worked unrecorded: the text is about the CPU alone.
bool UsesNoGpu(const Report& report);

// The process that the headline is about; null where no process was recorded.
const ReportProcess* HeadlineProcess(const Report& report);

// Idle time of |process|'s devices, of each cause that has some.
std::map<std::string, int64_t> IdleByCause(const ReportProcess& process);

// The devices that |process| used, at least one: those that its idle time is of.
int64_t DeviceCount(const ReportProcess& process);

// How long kernels of |process| would have taken had each filled the device.
int64_t SmFilledNs(const ReportProcess& process);

struct IdleExplained {
  int64_t idle_ns = 0;
  std::vector<CauseTime> causes;  // longest first; at least so long, so they may sum to less
  int64_t others_ns = 0;          // by so much a cause may be longer
};

// Why the main process's devices were idle, over the iterations after warm-up where they are the
// headline, else over its span. A process's causes are those of time without work of its own; where
// others' work ran on a device meanwhile, it was not idle, and which cause that was of is not
// known.
IdleExplained HeadlineIdle(const Report& report);

// The critical path over the headline's time: in the loop where the headline is about that alone, so
// that imports are not taken for the loop's code. Without parts where there is no path. |parts| are
// those of |report|.
struct HeadlinePath {
  bool is_loop = false;
  int64_t length_ns = 0;
  std::vector<std::pair<const ReportPathPart*, int64_t>> parts;  // with their time, in no order
};
HeadlinePath PathOfHeadline(const Report& report);

// Whether another process of the run uses a device of |process| too.
bool SharesADevice(const Report& report, const ReportProcess& process);

// The share of the headline's device time that the main process's own work takes, where other
// processes use its devices too and the report tells; absent otherwise.
std::optional<double> OwnShare(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_HEADLINE_FACTS_H_
