// SPDX-License-Identifier: Apache-2.0
//
// A thread of a process, or the process as a whole, began to do something else. Plain value, no
// thread rule.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_CHANGE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_CHANGE_H_

#include <cstdint>

#include "analysis/timeline/doing.h"

namespace gpubound {

// What it does from |time_ns| on. The process has an operation, be it kNoOperationIndex; a thread
// may have none of its own.
struct ThreadChange {
  int64_t time_ns = 0;
  Doing doing;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_CHANGE_H_
