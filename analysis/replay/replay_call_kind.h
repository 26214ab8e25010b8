// SPDX-License-Identifier: Apache-2.0
//
// What a replay has to know of the API calls of one name. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_CALL_KIND_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_CALL_KIND_H_

#include <cstdint>

#include "analysis/replay/own_part.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ReplayCallKind {
  // What a call does beside launching, told by its name.
  enum class Role : uint8_t {
    kOther,
    kSyncStream,
    kSyncEvent,
    kSyncAll,
    kSyncCopy,
    kAsyncCopy,
    kRecordEvent,
    kStreamWait
  };
  // The program captures a graph: what it calls meanwhile makes nodes and orders none of its work.
  enum class StreamCapture : uint8_t { kNone, kBegins, kEnds };

  static ReplayCallKind Of(const Label& label);

  Role role = Role::kOther;
  bool launches = false;  // may have work; by its name, or because such a call had some
  bool capturable = false;
  bool launches_kernel = false;
  bool ends_capture = false;
  StreamCapture stream_capture = StreamCapture::kNone;
  OwnPart own_part;  // of its time, where it waits or launches while it is open
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_CALL_KIND_H_
