// SPDX-License-Identifier: Apache-2.0
//
// How far a program said it had come: the counters progress_done and progress_total that
// gpubound.progress() records. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_
#define GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_

#include <cstdint>

#include "analysis/trace/event_source.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ToldValue {
  int64_t time_ns = INT64_MIN;
  double value = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(time_ns, value);
  }
};
struct ToldValues {
  ToldValue first_done;
  ToldValue done;
  ToldValue total;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(first_done, done, total);
  }
};

// The last of each, and the first of what was done, that was told before |until_ns|, of |before|
// and the events of |source|. Costs a pass over the thread events of a process that has such
// counters, and nothing otherwise.
ToldValues LastTold(const ProcessTrace& process, const EventSource& source,
                    const ToldValues& before, int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_
