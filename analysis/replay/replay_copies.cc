// SPDX-License-Identifier: Apache-2.0
//
// Makes one run of many. No state.
#include "analysis/replay/replay_copies.h"

#include <string>

#include "analysis/replay/shared_devices.h"

namespace gpubound {

Result<std::vector<int64_t>> ReplayCopies(const Run& run, const ReplayOptions& options, size_t of,
                                          size_t copies, uint32_t runs_beside) {
  Run all;
  all.path = run.path;
  ReplayOptions replay = options;
  replay.keep_events = false;
  replay.critical_path_of = {};
  for (size_t copy = 1; copy < copies; ++copy) {
    replay.process_costs.insert(replay.process_costs.end(), options.process_costs.begin(),
                                options.process_costs.end());
    replay.process_changes.insert(replay.process_changes.end(), options.process_changes.begin(),
                                  options.process_changes.end());
  }
  for (size_t copy = 0; copy < copies; ++copy) {
    for (const ProcessTrace& process : run.processes) {
      all.processes.push_back(process);
      // A machine of its own, so that no process is taken for that of another copy.
      if (copy > 0) all.processes.back().identity.host += "#" + std::to_string(copy);
    }
  }
  SharedDevices devices(runs_beside);
  replay.copies = copies;
  replay.shared = &devices;
  const Result<ReplayedRun> replayed = ReplayRun(all, replay);
  if (!replayed.ok()) return replayed.error();
  std::vector<int64_t> spans;
  for (size_t copy = 0; copy < copies; ++copy) {
    const ReplayFacts& facts = replayed->facts[copy * run.processes.size() + of];
    spans.push_back(facts.span_end_ns - facts.span_begin_ns);
  }
  return spans;
}

}  // namespace gpubound
