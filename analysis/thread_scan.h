// SPDX-License-Identifier: Apache-2.0
//
// What has to be known of all threads of a process before their timelines can be merged: which one
// reports, which speak for themselves, and what crosses from one to another. Pure.
#ifndef GPUBOUND_ANALYSIS_THREAD_SCAN_H_
#define GPUBOUND_ANALYSIS_THREAD_SCAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/interval.h"
#include "analysis/label_roles.h"
#include "analysis/run.h"
#include "analysis/thread_timeline.h"

namespace gpubound {

struct ThreadScan {
  // The thread that an importer chose, else the one that opened the first operation, else the main
  // thread; kNotOne when none of them has any event. Index into ProcessTrace::threads, as are the
  // positions of the vectors below.
  uint32_t reporting = kNotOne;
  std::vector<bool> annotates;  // opens operations of its own, so it never adopts
  std::vector<std::vector<ForeignRangeEnd>> foreign_ends;
  std::vector<Interval> pauses;  // recording was off; disjoint, ascending
};

ThreadScan ScanThreads(const ProcessTrace& process, const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_SCAN_H_
