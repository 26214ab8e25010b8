// SPDX-License-Identifier: Apache-2.0
//
// Tells by names. No state.
#include "analysis/replay/replay_call_kind.h"

#include <string_view>

#include "analysis/replay/replay_scales.h"
#include "proto/sync_calls.h"

namespace gpubound {

ReplayCallKind ReplayCallKind::Of(const Label& label) {
  ReplayCallKind kind;
  if (label.kind != LabelKind::kApi) return kind;
  const std::string_view name = StripApiVersion(label.text);
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  // Enqueue and Append are those of Intel's runtimes.
  kind.launches = has("Launch") || has("Memcpy") || has("Memset") || has("Enqueue") ||
                  has("Append") || has("Copy");
  kind.capturable = IsCapturable(name);
  kind.launches_kernel = LaunchesKernel(name);
  kind.ends_capture = EndsCapture(name);
  kind.stream_capture = has("StreamBeginCapture") ? StreamCapture::kBegins
                        : has("StreamEndCapture") ? StreamCapture::kEnds
                                                  : StreamCapture::kNone;
  switch (ClassifyApi(name)) {
    case ApiClass::kSync:
      kind.role = has("Memcpy")   ? Role::kSyncCopy
                  : has("Stream") ? Role::kSyncStream
                  : has("Event")  ? Role::kSyncEvent
                                  : Role::kSyncAll;
      break;
    case ApiClass::kAsyncCopy:
      kind.role = Role::kAsyncCopy;
      break;
    case ApiClass::kCall:
      if (has("EventRecord")) kind.role = Role::kRecordEvent;
      if (has("StreamWaitEvent")) kind.role = Role::kStreamWait;
      break;
  }
  return kind;
}

}  // namespace gpubound
