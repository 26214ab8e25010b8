// SPDX-License-Identifier: Apache-2.0
//
// The run's own clock. Immutable.
#include "analysis/output/tables/run_times.h"

#include <algorithm>

#include "analysis/processes/run_frame.h"

namespace gpubound {

bool HasSeveralHosts(const Run& run) {
  return std::any_of(run.processes.begin(), run.processes.end(), [&](const ProcessTrace& process) {
    return process.identity.host != run.processes.front().identity.host;
  });
}

RunTimes::RunTimes(const Run& run) {
  const RunFrame frame = FrameOf(run);
  begin_ns_ = frame.span.begin_ns;
  clocks_ = AlignClocks(run, frame.host);
  for (size_t p = 0; p < run.processes.size(); ++p) {
    places_.push_back({clocks_.offset_ns[p], clocks_.TrackOf(run.processes[p])});
  }
}

}  // namespace gpubound
