// SPDX-License-Identifier: Apache-2.0
//
// Follows the CPU side of a process once more, as its own report did, for those who ask for more than
// that says. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_FOLLOWER_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_FOLLOWER_H_

#include <algorithm>
#include <cstdint>

#include "analysis/timeline/process_timeline.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// Device work is followed too: a copy that the process made itself may have held it up. |Book| has
// Pass(state, until_ns): |state| held from the time of the last call to |until_ns|.
template <typename Book>
class ProcessFollower {
 public:
  // Both outlive the object.
  ProcessFollower(const ProcessTimeline::Input& input, Book* book)
      : timeline_(input), work_(input.source->Work()), state_(timeline_.state()), book_(book) {}

  void RunUntil(int64_t until_ns) {
    for (int64_t begin_ns = NextTime(); begin_ns < until_ns; begin_ns = NextTime()) {
      const int64_t end_ns = timeline_.Open(begin_ns, until_ns);
      for (; work_.Peek() != nullptr && work_.Peek()->start_ns < end_ns; work_.Pop()) {
        timeline_.WorkBegins(*work_.Peek());
      }
      timeline_.Run(begin_ns, end_ns);
      SwitchTo(timeline_.state_at_begin(), begin_ns);
      for (const ThreadChange& change : timeline_.changes()) {
        SwitchTo(CpuStateOf(timeline_.phase(), change.doing), change.time_ns);
      }
    }
    book_->Pass(state_, until_ns);
  }

 private:
  int64_t NextTime() {
    const int64_t next_ns = timeline_.NextTime();
    return work_.Peek() == nullptr ? next_ns : std::min(next_ns, work_.Peek()->start_ns);
  }
  void SwitchTo(const CpuState& state, int64_t time_ns) {
    book_->Pass(state_, time_ns);
    state_ = state;
  }

  ProcessTimeline timeline_;
  RecordStream<DeviceWork> work_;
  CpuState state_;
  Book* const book_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_FOLLOWER_H_
