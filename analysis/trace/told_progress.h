// SPDX-License-Identifier: Apache-2.0
//
// How far a program said it had come: the counters progress_done and progress_total that
// gpubound.progress() records; and how much work it did: env_steps, samples and tokens. Pure but for
// reading events.
#ifndef GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_
#define GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_

#include <array>
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

// The records of a counter of work, in the order in which they are added.
struct WorkCounted {
  uint64_t count = 0;
  ToldValue first;
  ToldValue last;
  double since_first = 0;  // sum of all values but the first
  bool grows = true;       // each value is larger than the one before
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(count, first, last, since_first, grows);
  }
  void Add(const ToldValue& record);
  // What was done from the first record to the last. Values that grow with every record are a
  // running total, others what was done since the record before.
  double Done() const { return grows ? last.value - first.value : since_first; }
};
inline constexpr std::array kWorkCounters = {"env_steps", "samples", "tokens"};

struct ToldValues {
  ToldValue first_done;
  ToldValue done;
  ToldValue total;
  std::array<WorkCounted, kWorkCounters.size()> work;  // as kWorkCounters
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(first_done, done, total, work);
  }
};

// The last of each, the first of what was done, and all work that was counted before |until_ns|, of
// |before| and the events of |source|. Costs a pass over the thread events of a process that has
// such counters, and nothing otherwise.
ToldValues LastTold(const ProcessTrace& process, const EventSource& source,
                    const ToldValues& before, int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_TOLD_PROGRESS_H_
