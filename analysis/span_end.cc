// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/span_end.h"

namespace gpubound {

const char* SpanEndName(SpanEnd end) {
  switch (end) {
    case SpanEnd::kClosed:
      break;
    case SpanEnd::kAsked:
      return "duration over";
    case SpanEnd::kReplaced:
      return "replaced by exec";
    case SpanEnd::kLauncherWait:
      return "launcher's wait";
    case SpanEnd::kLastEvent:
      return "last event";
  }
  return "closed";
}

std::string SpanEndText(SpanEnd end) {
  if (end == SpanEnd::kAsked) return "recording ended as asked, the process went on";
  const bool closed = end == SpanEnd::kClosed || end == SpanEnd::kReplaced;
  return std::string(closed ? "" : "not closed: ends at the ") + SpanEndName(end);
}

}  // namespace gpubound
