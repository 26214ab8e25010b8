// SPDX-License-Identifier: Apache-2.0
//
// A thread of a process began to do something else. Plain value, no thread rule.
#ifndef GPUBOUND_ANALYSIS_THREAD_CHANGE_H_
#define GPUBOUND_ANALYSIS_THREAD_CHANGE_H_

#include <cstdint>

#include "analysis/doing.h"

namespace gpubound {

// What a thread does from |time_ns| on.
struct ThreadChange {
  int64_t time_ns = 0;
  Doing doing;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_CHANGE_H_
