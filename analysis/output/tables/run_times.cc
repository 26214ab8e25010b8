// SPDX-License-Identifier: Apache-2.0
//
// The run's own clock. Immutable.
#include "analysis/output/tables/run_times.h"

#include <algorithm>

#include "analysis/processes/run_frame.h"
#include "analysis/reader/reader.h"

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

std::unique_ptr<RunTimes> RunTimesOf(const Run& run, const std::string& path) {
  if (!HasSeveralHosts(run)) return std::make_unique<RunTimes>(run);
  const Result<Run> opened = OpenRun(path);
  const bool same = opened.ok() && opened->processes.size() == run.processes.size();
  return same ? std::make_unique<RunTimes>(*opened) : nullptr;
}

}  // namespace gpubound
