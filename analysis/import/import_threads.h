// SPDX-License-Identifier: Apache-2.0
//
// Which thread of an imported process reports, and which is its main thread, from what is known of
// its threads once they have been passed over. Pure.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_THREADS_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_THREADS_H_

#include <cstdint>
#include <vector>

#include "analysis/import/import_names.h"

namespace gpubound {

struct ThreadTotals {
  uint32_t thread = kNoIndex;
  uint64_t events = 0;
  int64_t operation_ns = 0;  // under some operation
};

// The `tid` of the thread with the most time under operations; without any, with the most events.
// Ties go to the smaller thread id, so that the order of the file decides nothing, and of one id to
// a thread of |process|'s own before one that it adopted. 0 where there are no |threads|.
uint32_t BusiestTid(const std::vector<ThreadTotals>& threads, uint32_t process,
                    const ForeignNames& names);

// On Linux the main thread has the process's id. |otherwise| where none has.
uint32_t MainTid(const std::vector<ThreadTotals>& threads, uint32_t process,
                 const ForeignNames& names, uint32_t otherwise);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_THREADS_H_
