// SPDX-License-Identifier: Apache-2.0
//
// One machine's share of a run, reduced where its files lie (`gpubound part`): what its processes and
// devices did, the facts of its processes, and the collective kernels, which only mean something
// beside those of other machines. Plain values.
#ifndef GPUBOUND_ANALYSIS_PARTS_MACHINE_PART_H_
#define GPUBOUND_ANALYSIS_PARTS_MACHINE_PART_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/run_share.h"
#include "analysis/base/status.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Collective kernels of a process in columns, in order of begin.
struct CollectiveColumns {
  std::vector<std::string> names;
  std::vector<uint32_t> streams;   // what is called so in the columns, by StreamId
  std::vector<uint32_t> devices;   // of each of these, by DeviceId
  std::vector<int64_t> begins_ns;  // each after the one before; the first after 0
  std::vector<uint64_t> lengths_ns;
  std::vector<uint64_t> name;    // in |names|
  std::vector<uint64_t> stream;  // in |streams|
};

struct PartProcess {
  ProcessTrace facts;  // without events, but for |collectives|
  ProcessShare share;
  CollectiveColumns collectives;
};

// Numbers of processes in |machine| are places in |processes|.
struct MachinePart {
  std::string version;                  // of the gpubound that made it
  int64_t made_realtime_ns = 0;         // when it was read
  std::string boot_id;                  // empty where nothing tells it
  std::string host;                     // of several, as of containers, the first
  std::vector<std::string> operations;  // BreakdownOptions::operations
  std::vector<RunInfo> launchers;       // what run.json says, where there is one
  std::string run;                      // the path
  std::string steps;
  std::vector<std::string> problems;
  std::vector<std::string> notes;  // ShareOfMachine::notes
  std::vector<ProcessIdentity> lost;
  Ledger ledger{};
  std::vector<PartProcess> processes;
  MachineShare machine;
  MachineShare as_root;  // as of ShareOfMachine
  // Of its ranks that others waited for, what they did; known where it was made once more, with the
  // merged parts of these machines, sorted: where there are others, others may have been late.
  std::vector<LateRank> late;
  std::vector<std::string> late_among;
  std::optional<RunTraining> training;  // as of ShareOfMachine
};

// What a part is known by: its machine's kernel, or where nothing tells that the host; and the first
// of its processes, since containers of one machine may have folders of their own.
std::string KeyOf(const MachinePart& part);

// Of |run|, which has that machine alone. Errors are those of BuildReport.
Result<MachinePart> PartOf(Run run, const std::string& host, const BreakdownOptions& options,
                           std::vector<LateRank> late = {});

// Who was late in collectives, and when, among the machines of parts.
struct Lateness {
  std::vector<std::string> among;  // KeyOf() each, sorted
  struct Rank {
    int64_t pid = 0;
    int64_t start_realtime_ns = 0;
    std::string boot_id;
    std::string host;
    LateRank rank;
  };
  std::vector<Rank> ranks;
};
Result<Lateness> LatenessOf(std::vector<MachinePart> parts);

// The parts of all machines that have files in the run at |path|, or of |host| alone where that is
// not empty; with what its ranks did that |lateness| names. Errors are those of OpenMachine() and
// BuildReport(); also where the run was compacted.
Result<std::vector<MachinePart>> MakeParts(const std::string& path, const std::string& host,
                                           const std::vector<std::string>& operations,
                                           const Lateness& lateness = {});

// In place of the part of a machine, or of several, that never came.
MachinePart AbsentPart(const std::string& name, const std::string& why);

// A run of the machines of |parts|, with what is missing counted, and the share that its report is made
// from. An error where parts were made with different operations, or two of them have the same device.
struct CombinedRun {
  Run run;
  RunShare share;
  std::vector<std::string> operations;
};
Result<CombinedRun> CombineParts(std::vector<MachinePart> parts);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_MACHINE_PART_H_
