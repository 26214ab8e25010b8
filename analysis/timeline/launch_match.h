// SPDX-License-Identifier: Apache-2.0
//
// Device work of a process in order of begin, each piece with the call that launched it. Memory is
// that of CallIndex. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_LAUNCH_MATCH_H_
#define GPUBOUND_ANALYSIS_TIMELINE_LAUNCH_MATCH_H_

#include "analysis/timeline/call_index.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

class LaunchMatch {
 public:
  explicit LaunchMatch(const EventSource& source) : calls_(source.Calls()), work_(source.Work()) {}

  struct Launched {
    DeviceWork work;
    CallNumber number = kNoCall;        // of its call, in the order of EventSource::Calls()
    const IndexedCall* call = nullptr;  // null without one; valid until the next Next()
  };
  // False at the end.
  bool Next(Launched* launched) {
    const DeviceWork* work = work_.Peek();
    if (work == nullptr) return false;
    while (calls_.Peek() != nullptr &&
           calls_.Peek()->call.start_ns <= work->start_ns + kClockSlackNs) {
      index_.Add(*calls_.Peek(), ApiClass::kCall, Launches::kMany);
      calls_.Pop();
    }
    launched->work = *work;
    launched->number = index_.Find(*work);
    launched->call = launched->number == kNoCall ? nullptr : index_.At(launched->number);
    work_.Pop();
    return true;
  }

 private:
  RecordStream<ThreadCall> calls_;
  RecordStream<DeviceWork> work_;
  CallIndex index_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_LAUNCH_MATCH_H_
