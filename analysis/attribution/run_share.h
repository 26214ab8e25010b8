// SPDX-License-Identifier: Apache-2.0
//
// What came of the processes and the devices of some machines of a run, or of all: all that a report
// is made from beside the facts of the run (build_report.h). Machines have nothing in common but
// clocks, collectives and the run itself, so that each can be gone through where its files lie, and
// shares are put side by side later. Plain values.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_SHARE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_SHARE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/device_usage.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/run.h"

namespace gpubound {

// When a process stepped.
struct Steps {
  std::optional<Interval> warm_up;  // as of ProcessAnalysis
  uint64_t steady = 0;              // iterations after that
  int64_t steady_end_ns = 0;        // of the last of them
};

// Times are those of the process.
struct ProcessShare {
  ReportProcess report;
  Ledger found{};                     // as of ProcessAnalysis
  int64_t work_before_launch_ns = 0;  // likewise
  int64_t work_after_wait_ns = 0;     // likewise
  Steps steps;
  ProcessUnknown unknown;
  std::vector<std::string> role_notes;      // NotesOnRoles()
  std::optional<ProcessTraining> training;  // known where it was made for a part
};

// Windows in which devices are measured: the whole span first, then its parts in order of time,
// then that of all work.
struct RunWindows {
  std::vector<Interval> windows;
  std::vector<std::string> parts;  // names of windows[1..]
  size_t work = 0;                 // the last one; 0: there is none
};

// A process that used a device meanwhile and is not part of the run.
struct UnprofiledUse {
  std::string host;
  std::string uuid;  // of the device
  int64_t pid = 0;
  std::string name;  // empty where it hides it
  Interval time;     // to the sample
};

struct DeviceCompany {
  std::vector<UnprofiledUse> uses;  // by host, device and pid; once each
  std::set<std::string> mps_uuids;  // devices that are shared through MPS
};

// Times are those of the machine.
struct MachineShare {
  std::vector<size_t> processes;  // by their numbers in the run
  RunWindows cut;
  std::vector<DeviceUsage> devices;
  DeviceCompany company;
};

// A process on one of its devices that entered collectives last.
struct LateRank {
  size_t process = 0;                     // its number in the run
  uint32_t device = 0;                    // DeviceId
  std::vector<Interval> times;            // in which others waited for it
  std::vector<ReportActivity> meanwhile;  // its reporting thread then, longest first
};

struct RunShare {
  std::vector<ProcessShare> processes;  // by their numbers in the run
  std::vector<MachineShare> machines;
  std::vector<LateRank> late;  // whose threads' work meanwhile is known
  std::vector<std::string> notes;
  std::optional<RunTraining> training;  // as of ShareOfMachine, where that is the only one
};

// Of a machine of which nobody knows yet what others there are.
struct ShareOfMachine {
  std::vector<ProcessShare> processes;
  MachineShare machine;
  MachineShare as_root;  // if it has the root, or is the only one: measured as long as the run is
  std::vector<LateRank> late;
  std::vector<std::string> notes;
  // If it is the only one, over the headline of the iterations; without targets.
  std::optional<RunTraining> training;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_SHARE_H_
