// SPDX-License-Identifier: Apache-2.0
//
// Which thread of a process has a number that the system gave. The system gives them again: of
// several the last one that had begun by then. Immutable; any thread.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_NUMBERS_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_NUMBERS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

class ThreadNumbers {
 public:
  explicit ThreadNumbers(const ProcessTrace& process) {
    for (uint32_t t = 0; t < process.threads.size(); ++t) {
      by_tid_[process.threads[t].tid].push_back(t);
    }
  }
  // Told of a thread's first event, before any Find().
  void Begins(uint32_t thread, int64_t time_ns) {
    if (begins_ns_.size() <= thread) begins_ns_.resize(thread + 1, kOpenEnded);
    begins_ns_[thread] = time_ns;
  }
  // An index into ProcessTrace::threads; kNotOne where there is none.
  uint32_t Find(uint32_t tid, int64_t time_ns) const {
    const auto found = by_tid_.find(tid);
    if (found == by_tid_.end()) return kNotOne;
    uint32_t chosen = found->second.front();
    for (const uint32_t thread : found->second) {
      if (thread < begins_ns_.size() && begins_ns_[thread] <= time_ns) chosen = thread;
    }
    return chosen;
  }

 private:
  std::unordered_map<uint32_t, std::vector<uint32_t>> by_tid_;  // oldest first
  std::vector<int64_t> begins_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_NUMBERS_H_
